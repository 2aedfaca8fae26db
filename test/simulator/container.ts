import 'reflect-metadata';
import type { Type } from '@nestjs/common';

/** A class as a key: concrete, or abstract as ports are. */
export type Token<T = unknown> = Type<T> | (abstract new (...args: never[]) => T);

export type Provider =
  | Type
  | { readonly provide: Token; readonly useClass: Type }
  | { readonly provide: Token; readonly useExisting: Token }
  | { readonly provide: Token; readonly useValue: unknown }
  | {
      readonly provide: Token;
      readonly useFactory: (...args: unknown[]) => unknown;
      readonly inject?: readonly Token[];
    };

/**
 * The product's classes, put together as its modules say, without Nest: a node costs less than a millisecond, no hook is run
 * and no timer started. What is overridden comes first.
 */
export class Container {
  private readonly instances = new Map<Token, unknown>();
  private readonly making = new Set<Token>();

  constructor(
    private readonly providers: ReadonlyMap<Token, Provider>,
    overrides: ReadonlyMap<Token, unknown>,
  ) {
    for (const [token, value] of overrides) this.instances.set(token, value);
  }

  get<T>(token: Token<T>): T {
    if (!this.instances.has(token)) {
      if (this.making.has(token)) throw new TypeError(`${token.name} needs itself`);
      this.making.add(token);
      this.instances.set(token, this.make(this.providers.get(token) ?? token));
      this.making.delete(token);
    }
    return this.instances.get(token) as T;
  }

  /** A new object of a class that no module names. */
  create<T>(type: Type<T>): T {
    const types: readonly Token[] = (Reflect.getMetadata('design:paramtypes', type) as Token[] | undefined) ?? [];
    return new type(...types.map((dependency) => this.get(dependency)));
  }

  private make(provider: Provider | Token): unknown {
    if (typeof provider === 'function') return this.create(provider as Type);
    if ('useValue' in provider) return provider.useValue;
    if ('useExisting' in provider) return this.get(provider.useExisting);
    if ('useClass' in provider) return this.create(provider.useClass);
    return provider.useFactory(...(provider.inject ?? []).map((token) => this.get(token)));
  }
}

/** Every provider of the modules and of the modules they import. */
export function providersOf(modules: readonly Type[]): Map<Token, Provider> {
  const found = new Map<Token, Provider>();
  const seen = new Set<unknown>();
  const visit = (module: unknown): void => {
    // Dynamic modules are TypeORM's entities; nothing of the core reads through them.
    if (typeof module !== 'function' || seen.has(module)) return;
    seen.add(module);
    for (const provider of metadata<Provider>('providers', module))
      found.set(typeof provider === 'function' ? provider : provider.provide, provider);
    for (const imported of metadata<unknown>('imports', module)) visit(imported);
  };
  modules.forEach(visit);
  return found;
}

function metadata<T>(key: string, target: object): T[] {
  return (Reflect.getMetadata(key, target) as T[] | undefined) ?? [];
}
