import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseHex, type Hex } from '../../src/kernel/hex.js';

const require = createRequire(import.meta.url);

interface Compiled {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { readonly evm: { readonly bytecode: { readonly object: string } } }>>>
  >;
}

/** @returns the init code of each contract in the source, which may import those of `@openzeppelin/contracts` */
export function compileSolidity(source: string): Readonly<Record<string, Hex>> {
  const { compile } = require('solc') as {
    compile: (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;
  };
  const input = {
    language: 'Solidity',
    sources: { 'test.sol': { content: source } },
    settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  };
  const read = (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') });
  const { errors = [], contracts } = JSON.parse(compile(JSON.stringify(input), { import: read })) as Compiled;
  const failures = errors.filter(({ severity }) => severity === 'error').map((error) => error.formattedMessage);
  if (failures.length > 0) throw new Error(failures.join(''));
  return Object.fromEntries(
    Object.entries(contracts['test.sol'] ?? {}).map(([name, { evm }]) => [name, parseHex(`0x${evm.bytecode.object}`)]),
  );
}
