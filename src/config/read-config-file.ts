import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { ConfigInvalid } from './config-mistakes.js';

/** A map of YAML or JSON. */
export type RawMap = Record<string, unknown>;

export function isRawMap(value: unknown): value is RawMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const DEFAULT_CONFIG_FILE = 'lockstep.yaml';

/**
 * Reads the file into plain values. A file that LOCKSTEP_CONFIG names must exist; the default file may be absent.
 * @throws ConfigInvalid
 */
export function readConfigFile(asked: string | undefined, cwd: string): RawMap {
  const path = resolve(cwd, asked ?? DEFAULT_CONFIG_FILE);
  if (asked === undefined && !existsSync(path)) return {};
  return parseConfigText(readText(path), path);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const problem = code === 'ENOENT' ? `file not found: ${path}` : `cannot read ${path} (${code})`;
    throw new ConfigInvalid([{ path: 'LOCKSTEP_CONFIG', problem }]);
  }
}

function parseConfigText(text: string, path: string): RawMap {
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    // The parser's message quotes the lines around the mistake, which may contain a key.
    throw new ConfigInvalid(
      document.errors.map((error) => ({
        path: `${path}:${error.linePos?.[0].line ?? 1}`,
        problem: `not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`,
      })),
    );
  }
  const root: unknown = document.toJS();
  if (root === null || root === undefined) return {};
  if (!isRawMap(root)) throw new ConfigInvalid([{ path, problem: 'must be a map of sections' }]);
  return root;
}
