import { validateSync } from 'class-validator';
import { didYouMean } from './closest-name.js';
import { fieldsOf, type ConfigClass, type ConfigField } from './config-fields.js';
import type { ConfigMistake } from './config-mistakes.js';
import { pathTo, printableKey } from './config-path.js';
import { isRawMap } from './raw-config.js';
import { Unreadable } from './value-parsers.js';

/**
 * Makes an instance of a config class from plain values. Reports unknown keys, missing keys and unreadable values; absent keys keep their
 * defaults. Then class-validator checks ranges and forms, one object at a time, so that every path is the path in the file.
 */
export class ConfigBuilder {
  readonly mistakes: ConfigMistake[] = [];

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
  }

  private buildField(field: ConfigField, raw: unknown, path: string): unknown {
    if (raw === undefined) {
      // An absent section may have required keys.
      if (field.kind === 'section' && hasRequiredKeys(field.type)) return this.build(field.type, {}, path);
      if ((field.kind === 'value' || field.kind === 'list') && field.required) this.report(path, 'is required');
      return undefined;
    }
    switch (field.kind) {
      case 'value':
        return this.read(field.parse, raw, path);
      case 'section':
        return this.build(field.type, raw, path);
      case 'list':
        return this.entries(raw, path, (entry, at) => this.build(field.type, entry, at));
      case 'variants':
        return this.entries(raw, path, (entry, at) => this.buildVariant(field, entry, at));
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

  private entries(raw: unknown, path: string, build: (entry: unknown, path: string) => object | null): unknown {
    if (!Array.isArray(raw)) {
      this.report(path, 'must be a list');
      return undefined;
    }
    const entries = raw.map((entry: unknown, index) => build(entry, pathTo(path, index)));
    return entries.filter((entry) => entry !== null);
  }

  private buildVariant(field: Extract<ConfigField, { kind: 'variants' }>, raw: unknown, path: string): object | null {
    const choice = isRawMap(raw) ? raw[field.by] : undefined;
    const type = typeof choice === 'string' && Object.hasOwn(field.types, choice) ? field.types[choice] : undefined;
    if (type !== undefined) return this.build(type, raw, path);
    this.report(pathTo(path, field.by), `must be one of ${Object.keys(field.types).join(', ')}`);
    return null;
  }

  private report(path: string, problem: string): void {
    this.mistakes.push({ path: path === '' ? '(root)' : path, problem });
  }
}

function hasRequiredKeys(type: ConfigClass): boolean {
  return [...fieldsOf(type).values()].some((field) => field.kind === 'value' && field.required);
}
