import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { LockstepConfig } from './lockstep-config.js';

/** Provides the whole configuration, and each top-level section under its class, so that a class injects only its section. */
@Module({})
export class ConfigModule {
  static register(config: LockstepConfig): DynamicModule {
    const sections = Object.values(config)
      .filter((section): section is object => typeof section === 'object' && !Array.isArray(section))
      .map((section) => ({ provide: tokenOf(section), useValue: section }));
    const providers = [{ provide: LockstepConfig, useValue: config }, ...sections];
    return { module: ConfigModule, global: true, providers, exports: providers.map(({ provide }) => provide) };
  }
}

function tokenOf(section: object): Type {
  const { constructor } = section;
  if (!isClass(constructor)) throw new TypeError('a config section must be an instance of its class');
  return constructor;
}

function isClass(value: unknown): value is Type {
  return typeof value === 'function' && value !== Object;
}
