import {
  ArrayMinSize,
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  Min,
  registerDecorator,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';
import { parseAllowedTargets } from './allowed-target.js';
import type { ConfigMistake } from './config-mistakes.js';
import {
  parseDuration,
  parseEncryptionKeys,
  parseFlag,
  parseInteger,
  parseLimit,
  parseRetention,
  parseSize,
  parseSizeLimit,
  parseText,
  parseTextList,
  parseWei,
  type ValueParser,
} from './value-parsers.js';

/**
 * What the loader needs of a key in addition to its rule: how to read it from YAML or an environment variable, and which keys are below it.
 * class-validator has only the rules, and does not list the names.
 */
export type ConfigField =
  | { readonly kind: 'value'; readonly parse: ValueParser; readonly required: boolean }
  | { readonly kind: 'section' | 'list'; readonly type: ConfigClass | Variants; readonly required: boolean };

export type ConfigClass<T extends object = object> = new () => T;

/** The value of the key `by` says which class a section has, or an entry of a list. With `off` there is none. */
export interface Variants {
  readonly by: string;
  readonly types: Readonly<Record<string, ConfigClass>>;
  readonly off?: string;
}

export function typesOf(type: ConfigClass | Variants): readonly ConfigClass[] {
  return typeof type === 'function' ? [type] : Object.values(type.types);
}

/** A config class with rules that concern several of its keys. */
export interface HasRules {
  /** With paths that begin at the section. */
  brokenRules(): readonly ConfigMistake[];
}

const FIELDS = new WeakMap<object, Map<string, ConfigField>>();

/** The keys of a config class: those of its base class, then its own, in the order they are declared. */
export function fieldsOf(type: object): ReadonlyMap<string, ConfigField> {
  const base: unknown = Object.getPrototypeOf(type);
  const inherited = typeof base === 'function' ? fieldsOf(base) : [];
  return new Map([...inherited, ...(FIELDS.get(type) ?? [])]);
}

function field(definition: ConfigField, ...rules: PropertyDecorator[]): PropertyDecorator {
  return (prototype, key) => {
    const fields = FIELDS.get(prototype.constructor) ?? new Map<string, ConfigField>();
    fields.set(String(key), definition);
    FIELDS.set(prototype.constructor, fields);
    // Keys without a default are optional: an absent one has no rule to break.
    ValidateIf((_owner, value) => value !== undefined)(prototype, key);
    for (const rule of rules) rule(prototype, key);
  };
}

const withMessage = (message: string): ValidationOptions => ({ message });
const value = (parse: ValueParser, required = false): ConfigField => ({ kind: 'value', parse, required });

/** Milliseconds, written `10s`. The default minimum is 1 ms, because 0 means "no limit" in PostgreSQL. */
export function Duration({ min = 1, max = 2 ** 31 - 1 } = {}): PropertyDecorator {
  return field(
    value(parseDuration),
    Min(min, withMessage(`must be at least ${min}ms`)),
    Max(max, withMessage('is too long')),
  );
}

/** Milliseconds, written `30d`, or infinite, written `off`. `words` say why less than `min` is too short. */
export function Retention({ min, words }: { min: number; words: string }): PropertyDecorator {
  return field(value(parseRetention), Min(min, withMessage(words)));
}

/** Bytes, written `1mb`. */
export function Size(): PropertyDecorator {
  return field(
    value(parseSize),
    Min(1, withMessage('must be at least 1 byte')),
    Max(2 ** 31 - 1, withMessage('is too large')),
  );
}

export function Count({ min = 1, max = 1_000_000, required = false } = {}): PropertyDecorator {
  const range = withMessage(`must be a whole number from ${min} to ${max}`);
  return field(value(parseInteger, required), IsInt(range), Min(min, range), Max(max, range));
}

/** A number, or infinite, written `off`. */
export function Limit({ most = Number.MAX_SAFE_INTEGER } = {}): PropertyDecorator {
  return field(
    value(parseLimit),
    ValidateIf((_section, limit) => limit !== Infinity),
    Min(1, withMessage('must be off, or at least 1')),
    Max(most, withMessage(`must be off, or at most ${most}`)),
  );
}

/** Bytes, written `1mb`, or infinite, written `off`. */
export function SizeLimit(): PropertyDecorator {
  return field(value(parseSizeLimit), Min(1, withMessage('must be off, or at least 1 byte')));
}

export function Flag(): PropertyDecorator {
  return field(value(parseFlag));
}

export function Choice(choices: readonly string[], { required = false } = {}): PropertyDecorator {
  return field(value(parseText, required), IsIn(choices, withMessage(`must be one of ${choices.join(', ')}`)));
}

/** `form` is a rule and `words` its message; more rules may be added. */
export function Text({ form, words = 'has the wrong form', required = false }: TextRule = {}): PropertyDecorator {
  const rules = form === undefined ? [] : [Matches(form, withMessage(words))];
  return field(value(parseText, required), IsString(withMessage('must be text')), ...rules);
}

export interface TextRule {
  readonly form?: RegExp;
  readonly words?: string;
  readonly required?: boolean;
}

export function TextList({ required = false } = {}): PropertyDecorator {
  return field(value(parseTextList, required), ArrayMinSize(1, withMessage('needs at least one entry')));
}

/** Ranges of addresses and host names; see {@link parseAllowedTargets}. */
export function AllowedTargets(): PropertyDecorator {
  return field(value(parseAllowedTargets));
}

/** Keys of AES-256, see {@link parseEncryptionKeys}. */
export function EncryptionKeys(): PropertyDecorator {
  return field(value(parseEncryptionKeys));
}

/** Wei as a bigint, written as a decimal number in quotes. */
export function Wei(): PropertyDecorator {
  return field(value(parseWei));
}

export function Section(type: ConfigClass | Variants): PropertyDecorator {
  return field({ kind: 'section', type, required: false });
}

export function SectionList(type: ConfigClass | Variants, { required = false } = {}): PropertyDecorator {
  const rules = required ? [ArrayMinSize(1, withMessage('needs at least one entry'))] : [];
  return field({ kind: 'list', type, required }, ...rules);
}

/** A rule for a text, or for every text of a list. */
export function Each(name: string, message: string, holds: (text: string) => boolean): PropertyDecorator {
  return (prototype, key) =>
    registerDecorator({
      name,
      target: prototype.constructor,
      propertyName: String(key),
      options: { message },
      validator: {
        validate: (given: unknown) =>
          (Array.isArray(given) ? given : [given]).every((item: unknown) => typeof item === 'string' && holds(item)),
      },
    });
}
