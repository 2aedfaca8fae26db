/**
 * An object of this class with only these members, which the compiler compares with those of the class. A call of another method of it
 * fails the test.
 */
export function fakeOf<T extends object>(type: abstract new (...args: never[]) => T, members: Partial<NoInfer<T>>): T {
  return new Proxy(members, {
    get: (known, key) => {
      if (!(key in known) && key in type.prototype) throw new Error(`no fake of ${type.name}.${String(key)}`);
      return Reflect.get(known, key);
    },
  }) as T;
}
