import { TransformationType } from 'class-transformer';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { transforms } from './class-transformer-storage.js';

export type DtoClass<T extends object = object> = new () => T;
type Check = (value: unknown, dto: object) => boolean;
type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** What the decorators of a DTO class say about one field. */
export interface DtoField {
  readonly name: string;
  /** Unless all of them hold, the field is not looked at (`@IsOptional`). */
  readonly conditions: readonly Check[];
  readonly checks: readonly Check[];
  /** Class of the object, or of each object of a list. */
  readonly nested: DtoClass | null;
}

/** Null when the class has a decorator that is not understood here: values to transform, checks that take their time. */
export function fieldsOf(type: DtoClass): readonly DtoField[] | null {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
  const understood =
    transforms.getStrategy(type) === 'none' &&
    rules.every((rule) => isUnderstood(rule)) &&
    names.every((name) => isKeptAsItIs(type, name));
  if (names.length === 0 || !understood) return null;
  const rulesOf = (name: string): Rule[] => rules.filter(({ propertyName }) => propertyName === name);
  const fields = names.map((name) => fieldOf(type, name, rulesOf(name)));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(type: DtoClass, name: string, rules: readonly Rule[]): DtoField | null {
  const isNested = rules.some((rule) => rule.type === ValidationTypes.NESTED_VALIDATION);
  const nested = nestedClassOf(type, name);
  // A type without rules of its own makes something else of the value; nested rules without a type are never looked at.
  if (nested === null ? isNested || isTyped(type, name) : !isNested) return null;
  return {
    name,
    nested,
    conditions: rules.flatMap(conditionsOf),
    checks: rules.flatMap((rule) => checksOf(type, rule)),
  };
}

function isUnderstood({ type, validateIf, constraintCls, constraints }: Rule): boolean {
  switch (type) {
    case ValidationTypes.CUSTOM_VALIDATION:
      return validateIf === undefined && constraintsOf(constraintCls).every((constraint) => !constraint.async);
    case ValidationTypes.CONDITIONAL_VALIDATION:
      return isCondition(constraints[0]);
    default:
      return type === ValidationTypes.NESTED_VALIDATION || type === ValidationTypes.WHITELIST;
  }
}

function conditionsOf({ type, constraints }: Rule): Check[] {
  const condition: unknown = type === ValidationTypes.CONDITIONAL_VALIDATION ? constraints[0] : null;
  return isCondition(condition) ? [(value, dto) => Boolean(condition(dto, value))] : [];
}

function checksOf(dtoType: DtoClass, rule: Rule): Check[] {
  const { type, constraintCls, constraints, each, propertyName: property } = rule;
  if (type !== ValidationTypes.CUSTOM_VALIDATION) return [];
  const targetName = dtoType.name;
  return constraintsOf(constraintCls).map(({ instance }): Check => {
    const holds: Check = (value, object) =>
      instance.validate(value, { value, object, property, constraints, targetName }) === true;
    return (value, dto) => (each && Array.isArray(value) ? value.every((item) => holds(item, dto)) : holds(value, dto));
  });
}

function constraintsOf(constraintClass: Rule['constraintCls']) {
  return getMetadataStorage().getTargetValidatorConstraints(constraintClass);
}

function isCondition(value: unknown): value is (dto: object, value: unknown) => unknown {
  return typeof value === 'function';
}

/** Whether class-transformer does no more to it than make an instance of its type. */
function isKeptAsItIs(type: DtoClass, name: string): boolean {
  const exposed: unknown = transforms.findExposeMetadata(type, name);
  const excluded: unknown = transforms.findExcludeMetadata(type, name);
  const changes = transforms.findTransformMetadatas(type, name, TransformationType.PLAIN_TO_CLASS);
  return exposed === undefined && excluded === undefined && changes.length === 0;
}

function isTyped(type: DtoClass, name: string): boolean {
  const typed: unknown = transforms.findTypeMetadata(type, name);
  return typed !== undefined;
}

function nestedClassOf(type: DtoClass, name: string): DtoClass | null {
  if (!isTyped(type, name)) return null;
  const { typeFunction, options } = transforms.findTypeMetadata(type, name);
  // One that looks at the value first may answer differently for the next.
  const nested: unknown = typeFunction.length === 0 ? typeFunction() : null;
  return isDtoClass(nested) && options.discriminator === undefined ? nested : null;
}

function isDtoClass(value: unknown): value is DtoClass {
  return typeof value === 'function';
}
