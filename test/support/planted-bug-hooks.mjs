const MAIN = new URL('../../dist/main.js', import.meta.url).href;

/** Gives the bundle of the service a last line, which hands over its classes (planted-bug.mjs). */
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (url !== MAIN) return loaded;
  return { ...loaded, source: `${loaded.source}\nplantBug({ PgFencedUnitOfWork, PgNonceLedger, RecoverLane });\n` };
}
