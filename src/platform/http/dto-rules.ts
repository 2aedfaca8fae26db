import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, ValidationTypes } from 'class-validator';

export type DtoClass<T extends object = object> = new () => T;
type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Check = (value: unknown, dto: object) => boolean;

interface Field {
  readonly name: string;
  /** The field is checked only if all of them hold (`@IsOptional`). */
  readonly conditions: readonly Check[];
  readonly checks: readonly Check[];
  /** Class of the object, or of each object of a list. */
  readonly nested: DtoClass | null;
}

/**
 * The rules of the decorators of a DTO class, collected once; class-validator collects them again for every object
 * (docs/decisions/0018-dto-rules.md has the cost). They only accept: an object that they do not accept goes to class-validator, which
 * decides and makes the messages. Of class-transformer's decorators they know only `@Type` with a fixed class.
 */
export class DtoRules {
  private static readonly known = new WeakMap<DtoClass, DtoRules>();
  private readonly fields: readonly Field[];
  private readonly names: ReadonlySet<string>;

  private constructor(private readonly type: DtoClass) {
    const storage = getMetadataStorage();
    const rules = storage.groupByPropertyName(storage.getTargetValidationMetadatas(type, '', false, false));
    this.fields = Object.entries(rules).map(([name, ofField]) => fieldOf(type, name, ofField));
    this.names = new Set(Object.keys(rules));
  }

  static of(type: DtoClass): DtoRules {
    const rules = DtoRules.known.get(type) ?? new DtoRules(type);
    DtoRules.known.set(type, rules);
    return rules;
  }

  /** @returns an instance that keeps all rules, or null when class-validator has to decide */
  read(value: unknown): object | null {
    if (this.fields.length === 0 || !isJsonObject(value)) return null;
    if (!Object.keys(value).every((name) => this.names.has(name))) return null;
    const dto: Record<string, unknown> = Object.assign(new this.type(), value);
    return this.fields.every((field) => keepsRules(field, dto)) ? dto : null;
  }
}

/** Replaces nested objects with instances of their class. */
function keepsRules({ name, nested, conditions, checks }: Field, dto: Record<string, unknown>): boolean {
  if (nested !== null && dto[name] != null) {
    dto[name] = instancesOf(DtoRules.of(nested), dto[name]);
    if (dto[name] === null) return false;
  }
  const value = dto[name];
  return !conditions.every((holds) => holds(value, dto)) || checks.every((holds) => holds(value, dto));
}

/** Applies to an object, or to each object in a list; other rules decide whether a list is allowed. */
function instancesOf(rules: DtoRules, value: unknown): unknown {
  if (!Array.isArray(value)) return rules.read(value);
  const instances = value.map((item) => rules.read(item));
  return instances.includes(null) ? null : instances;
}

function fieldOf(type: DtoClass, name: string, rules: readonly Rule[]): Field {
  const of = (wanted: string): Rule[] => rules.filter((rule) => rule.type === wanted);
  // The class that class-transformer uses for an object there.
  const made = Reflect.get(plainToInstance(type, { [name]: {} }), name) as object;
  const isNested = made.constructor !== Object || of(ValidationTypes.NESTED_VALIDATION).length > 0;
  return {
    name,
    // Without a `@Type` the class is `Object`, which has no rules and accepts nothing.
    nested: isNested ? (made.constructor as DtoClass) : null,
    conditions: of(ValidationTypes.CONDITIONAL_VALIDATION).map(({ constraints }) => {
      const [condition] = constraints as [(dto: object, value: unknown) => unknown];
      return (value, dto) => Boolean(condition(dto, value));
    }),
    checks: rules.flatMap(checksOf),
  };
}

/** Only `true` accepts: class-validator handles rules that return a promise. */
function checksOf({ constraintCls, constraints, each, propertyName: property }: Rule): Check[] {
  const constraintClasses = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return constraintClasses.map(({ instance }): Check => {
    const holds: Check = (value, object) =>
      instance.validate(value, { value, object, property, constraints, targetName: object.constructor.name }) === true;
    return (value, dto) => (each && Array.isArray(value) ? value.every((item) => holds(item, dto)) : holds(value, dto));
  });
}

function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
