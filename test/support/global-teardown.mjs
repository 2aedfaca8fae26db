import './run-typescript.mjs';

export default (await import('./global-teardown.ts')).default;
