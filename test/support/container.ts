import 'reflect-metadata';
import type { DynamicModule, ModuleMetadata, Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Tickers } from '../../src/platform/scheduling/tickers.js';

/** A class as a key: concrete, or abstract as ports are. */
export type Token<T = unknown> = Type<T> | (abstract new (...args: never[]) => T);

export type Provider =
  | Type
  | { readonly provide: Token; readonly useClass: Type }
  | { readonly provide: Token; readonly useExisting: Token }
  | { readonly provide: Token; readonly useValue: unknown }
  | {
      readonly provide: Token;
      useFactory(...args: unknown[]): unknown;
      readonly inject?: readonly Token[];
    };

/** Ours take classes of them that need nothing. */
const OF_PACKAGES = new Set<unknown>([ScheduleModule, TerminusModule, TypeOrmModule]);
/** What Nest calls when an application closes, in this order. */
const CLOSING_HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;

/**
 * The product's classes, put together as its modules say, without Nest: a node costs a millisecond or two, no hook of a start is run
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

  /** Waits for what the factory of this one promises, before others get it. */
  async settle(token: Token): Promise<void> {
    this.instances.set(token, await this.get(token));
  }

  /** As Nest does it: also what nobody asks for may listen to others. */
  makeAll(): void {
    for (const token of this.providers.keys()) if (typeof token === 'function') this.get(token);
  }

  async close(): Promise<void> {
    // As the root module does it, which is not among the providers.
    await (this.instances.get(Tickers) as Tickers | undefined)?.shutDown();
    const made = [...new Set(this.instances.values())] as (Partial<Record<string, () => unknown>> | null)[];
    for (const hook of CLOSING_HOOKS) await Promise.all(made.map((instance) => instance?.[hook]?.()));
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

/** Every provider of the modules and of the modules they import, but not of packages. */
export function providersOf(modules: NonNullable<ModuleMetadata['imports']>): Map<Token, Provider> {
  const found = new Map<Token, Provider>();
  const seen = new Set<unknown>();
  const visit = (imported: unknown): void => {
    const { module = imported, providers = [] } = imported as Partial<DynamicModule>;
    if (OF_PACKAGES.has(module) || seen.has(module)) return;
    seen.add(module);
    for (const provider of [...metadata<Provider>('providers', module), ...(providers as Provider[])])
      found.set(typeof provider === 'function' ? provider : provider.provide, provider);
    for (const each of metadata<unknown>('imports', module)) visit(each);
  };
  modules.forEach(visit);
  return found;
}

function metadata<T>(key: string, target: unknown): T[] {
  return (Reflect.getMetadata(key, target as object) as T[] | undefined) ?? [];
}
