import { createRequire } from 'node:module';
import type { MetadataStorage } from 'class-transformer/types/MetadataStorage.js';

const load = createRequire(import.meta.url);
const storage = load('class-transformer/cjs/storage.js') as { readonly defaultMetadataStorage: MetadataStorage };

/** What the decorators of class-transformer said. The package has no door to it; Nest's own packages come in this way, too. */
export const transforms = storage.defaultMetadataStorage;
