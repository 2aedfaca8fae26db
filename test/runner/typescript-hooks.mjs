import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

/*
 * Jest loads the modules of globalSetup as CommonJS, outside its own module system, where neither `import.meta` nor an
 * import of `./x.js` that means `./x.ts` works. With these hooks Node itself loads TypeScript, as the build compiles it.
 */

export async function resolve(specifier, context, next) {
  // A thread begins with the URL of its file.
  const isOurs = specifier.startsWith('file:') || (specifier.startsWith('.') && context.parentURL?.endsWith('.ts'));
  if (isOurs && specifier.endsWith('.js')) {
    const typescript = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(typescript)) return { url: typescript.href, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), { sourceMaps: 'inline' });
  return { format: 'module', source: code, shortCircuit: true };
}
