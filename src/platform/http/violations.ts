import type { ValidationError } from '@nestjs/common';
import { pathTo } from '../../config/config-path.js';
import type { Violation } from './problem-details.js';

/** A body can have a million mistakes, and clients do not need more than a page of them. */
const MAX_VIOLATIONS = 50;
const MAX_ECHO_CHARS = 80;
const MAX_MESSAGE_CHARS = 300;

/** Flattens class-validator's tree of errors; each item has the full path of its field. */
export function violationsOf(errors: readonly ValidationError[]): Violation[] {
  const found: Violation[] = [];
  collect(errors, '', found);
  return found;
}

function collect(errors: readonly ValidationError[], parent: string, found: Violation[]): void {
  for (const error of errors) {
    if (found.length >= MAX_VIOLATIONS) return;
    const path = pathTo(parent, shorten(error.property, MAX_ECHO_CHARS));
    const violation = violationOf(error, path);
    if (violation !== null) found.push(violation);
    collect(error.children ?? [], path, found);
  }
}

/** One violation per field, for the first broken rule: messages of the other rules mostly repeat it. */
function violationOf(error: ValidationError, path: string): Violation | null {
  // class-validator lists the rules of a field from the last decorator to the first.
  const [rule, message] = Object.entries(error.constraints ?? {}).at(-1) ?? [];
  if (rule === undefined || message === undefined) return null;
  if (rule === 'whitelistValidation') return { path, code: 'unknown_field', message: `${path} is not a known field` };
  if (error.value === undefined && rule !== 'isObject' && rule !== 'nestedValidation') {
    return { path, code: 'missing_field', message: `${path} is missing` };
  }
  return { path, code: codeOf(error, rule), message: shorten(message, MAX_MESSAGE_CHARS) };
}

/** Our validators have their code in the context. */
function codeOf(error: ValidationError, rule: string): string {
  const context: unknown = error.contexts?.[rule];
  const code = typeof context === 'object' && context !== null && 'code' in context ? context.code : undefined;
  return typeof code === 'string' ? code : 'invalid_field';
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
