import { validateSync } from 'class-validator';
import { didYouMean } from './closest-name.js';
import { fieldsOf, type ConfigClass, type ConfigField, type HasRules, type Variants } from './config-fields.js';
import { type ConfigMistake, pathTo, printableKey } from './config-mistakes.js';
import { isRawMap } from './read-config-file.js';
import { Unreadable } from './value-parsers.js';

/**
 * Makes an instance of a config class from plain values. Reports unknown keys, missing keys and unreadable values; absent keys keep their
 * defaults. Then class-validator checks ranges and forms, one object at a time, so that every path is the path in the file.
 */
export class ConfigBuilder {
  readonly mistakes: ConfigMistake[] = [];

  constructor(private readonly isUsed = true) {}

  build<T extends object>(type: ConfigClass<T>, raw: unknown, path: string): T {
    const instance = new type();
    // `lease:` with nothing below it (all lines commented out) is an empty section.
    const values = raw ?? {};
    if (!isRawMap(values)) {
      this.report(path, raw === '' ? 'must be a map of keys, and is empty' : 'must be a map of keys');
      return instance;
    }
    const fields = fieldsOf(type);
    for (const key of Object.keys(values)) {
      if (!fields.has(key))
        this.report(pathTo(path, printableKey(key)), `unknown key${didYouMean(key, [...fields.keys()])}`);
    }
    for (const [key, field] of fields) {
      const given = Object.hasOwn(values, key) ? values[key] : undefined;
      const built = this.buildField(field, given ?? undefined, pathTo(path, key));
      if (built !== undefined) Reflect.set(instance, key, built);
    }
    this.checkRules(instance, path);
    return instance;
  }

  private checkRules(instance: object, parent: string): void {
    for (const { property, constraints } of validateSync(instance, { forbidUnknownValues: false })) {
      const path = pathTo(parent, property);
      // Skip unreadable values: they are reported already and have their defaults. Skip equal messages of several rules.
      if (this.mistakes.some((known) => known.path === path)) continue;
      for (const problem of new Set(Object.values(constraints ?? {}))) this.report(path, problem);
    }
    for (const { path: key, problem } of hasRules(instance) ? instance.brokenRules() : []) {
      const path = pathTo(parent, key);
      if (!this.mistakes.some((known) => known.path === path)) this.report(path, problem);
    }
  }

  private buildField(field: ConfigField, raw: unknown, path: string): unknown {
    if (raw === undefined) {
      // An absent section may have required keys.
      if (field.kind === 'section' && hasRequiredKeys(field.type)) return this.buildOne(field.type, {}, path);
      if (field.required && this.isUsed) this.report(path, 'is required');
      return undefined;
    }
    switch (field.kind) {
      case 'value':
        return this.read(field.parse, raw, path);
      case 'section':
        return this.buildOne(field.type, raw, path);
      case 'list':
        return this.entries(field.type, raw, path);
    }
  }

  private read(parse: (raw: unknown) => unknown, raw: unknown, path: string): unknown {
    try {
      return parse(raw);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.report(path, error.message);
      return undefined;
    }
  }

  private entries(type: ConfigClass | Variants, raw: unknown, path: string): unknown {
    if (!Array.isArray(raw)) {
      this.report(path, 'must be a list');
      return undefined;
    }
    const entries = raw.map((entry: unknown, index) => this.buildOne(type, entry, pathTo(path, index)));
    return entries.filter((entry) => entry !== undefined);
  }

  private buildOne(type: ConfigClass | Variants, raw: unknown, path: string): object | undefined {
    if (typeof type === 'function') return this.build(type, raw, path);
    const { by, types, off } = type;
    const values = isRawMap(raw) ? raw : {};
    const choice = values[by] ?? off;
    if (off !== undefined && choice === off) {
      this.checkUnused(Object.values(types), raw, path);
      return undefined;
    }
    const chosen = typeof choice === 'string' && Object.hasOwn(types, choice) ? types[choice] : undefined;
    if (chosen !== undefined) return this.build(chosen, raw, path);
    this.report(
      pathTo(path, by),
      `must be one of ${[...(off === undefined ? [] : [off]), ...Object.keys(types)].join(', ')}`,
    );
    return undefined;
  }

  /** What is off has no wrong keys either, so that it can be turned on: each key is read as that of a type that has it. */
  private checkUnused(types: readonly ConfigClass[], raw: unknown, path: string): void {
    const typeOf = (key: string): ConfigClass | undefined => types.find((one) => fieldsOf(one).has(key)) ?? types[0];
    const unused = new ConfigBuilder(false);
    for (const type of types) {
      const own = isRawMap(raw) ? Object.entries(raw).filter(([key]) => typeOf(key) === type) : null;
      unused.build(type, own === null ? raw : Object.fromEntries(own), path);
    }
    this.mistakes.push(...unused.mistakes);
  }

  private report(path: string, problem: string): void {
    this.mistakes.push({ path: path === '' ? '(root)' : path, problem });
  }
}

function hasRules(section: object): section is HasRules {
  return 'brokenRules' in section;
}

function hasRequiredKeys(type: ConfigClass | Variants): boolean {
  return (
    typeof type === 'function' && [...fieldsOf(type).values()].some((field) => field.kind === 'value' && field.required)
  );
}
