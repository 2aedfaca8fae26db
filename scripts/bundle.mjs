import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './bootstrap.mjs';

/* After `nest build`: makes the OpenAPI document, and puts each program, and a thread of the service, into one file with the packages that it needs (docs/decisions/0047-bundles.md). */

const ENTRIES = ['main.js', 'cli.js', 'healthcheck.js', 'modules/requests/infrastructure/kzg-worker.js'];
/** They read files of their own: a native build, the pages of Swagger UI. */
const READ_THEIR_FILES = ['@crate-crypto/node-eth-kzg', 'swagger-ui-dist'];
/** Nest and custodies ask for them when somebody uses them. They are not here. */
const OPTIONAL = [
  '@aws-sdk/client-kms',
  '@fastify/multipart',
  '@fastify/view',
  '@google-cloud/kms',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer/storage',
];

const NO_MAP = `\n//# sourceMappingURL=data:application/json;base64,${btoa('{"version":3,"sources":["package"],"names":[],"mappings":"AAAA"}')}`;
/**
 * Nest makes a `require` of its own in some files, which esbuild does not follow: it would load a package once more, and from its many files.
 * Of packages no source map is kept: Node reads all of it when the first error is made.
 */
const packages = {
  name: 'packages',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8').replace('const require = createRequire(import.meta.url);', '')}${NO_MAP}`,
    })),
};

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES.map((file) => join('dist', file)),
  outdir: 'dist',
  entryNames: '[name]',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // What packages in CommonJS call.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  // Schemas of the document and providers of Nest have the names of their classes.
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  external: [...READ_THEIR_FILES, ...OPTIONAL],
  plugins: [packages],
  logLevel: 'warning',
  // The entries themselves are replaced.
  write: false,
  allowOverwrite: true,
});
// What the programs read.
const { describedApi } = await import('../dist/api-document.js');
writeFileSync(join(ROOT, 'dist', 'openapi.json'), JSON.stringify(await describedApi()));
for (const { path, text } of outputFiles) writeFileSync(path, namingClasses(inAscii(text)));

/**
 * esbuild also gives functions their names back, each time that one is made: it took a fiftieth of the CPU of a busy node. Those that still have
 * their own names need no other, and those that never had one do without. Columns stay as the source map has them.
 */
function namingClasses(text) {
  return text
    .replace(/^var __name = .*$/m, '$& var __same = (made) => made;')
    .replaceAll(/__name\((?=([\w$]+), "\1"\)|\(|async\b|function\b)/g, '__same(');
}

/**
 * One other letter, and the engine keeps all of the text in twice the memory, and takes twice the time to read it. esbuild leaves those of regular
 * expressions and comments, where an escape is the same.
 */
function inAscii(text) {
  return text.replace(/\\?[^\0-\x7f]/g, (letter) => {
    if (letter.startsWith('\\')) throw new Error(`an escape would change ${letter}`);
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
