import './run-typescript.mjs';

export default (await import('./global-setup.ts')).default;
