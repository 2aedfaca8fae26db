/** `chains` + `0` + `rpcUrls` is written `chains[0].rpcUrls`. */
export function pathTo(parent: string, key: string | number): string {
  if (/^\d+$/.test(String(key))) return `${parent}[${key}]`;
  return parent === '' ? String(key) : `${parent}.${key}`;
}

/** Hides text that is not a name: it may be a key or a URL that was pasted by mistake. */
export function printableKey(key: string): string {
  return /^[\w-]{1,40}$/.test(key) ? key : '(unprintable key)';
}
