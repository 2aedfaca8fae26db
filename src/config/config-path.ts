/** `chains` + `0` + `rpcUrls` is written `chains[0].rpcUrls`. */
export function pathTo(parent: string, key: string | number): string {
  if (/^\d+$/.test(String(key))) return `${parent}[${key}]`;
  return parent === '' ? String(key) : `${parent}.${key}`;
}

/** A key or URL pasted where a name belongs is not repeated. */
export function printableKey(key: string): string {
  return /^[\w-]{1,40}$/.test(key) ? key : '(unprintable key)';
}
