import { register } from 'node:module';

register('../runner/typescript-hooks.mjs', import.meta.url);
