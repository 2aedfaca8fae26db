/** What all suites share; the suffix of a file decides its suite. */
const shared = {
  rootDir: import.meta.dirname,
  runner: '<rootDir>/test/runner/runner.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.lockstep/', '<rootDir>/.stryker/'],
};

/** One PostgreSQL server for the whole run, one fresh database for each test file (test/support/test-database.ts). */
const withPostgres = {
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

/** Run by scripts/suites.mjs, which says with how many workers. */
export default {
  // Ends a test that hangs; nothing waits for it.
  testTimeout: 180_000,
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.spec.ts'] },
    {
      ...shared,
      ...withPostgres,
      displayName: 'int',
      testMatch: ['<rootDir>/test/integration/**/*.int-spec.ts'],
    },
    {
      ...shared,
      ...withPostgres,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/e2e/**/*.e2e-spec.ts'],
    },
    {
      ...shared,
      ...withPostgres,
      displayName: 'chaos',
      testMatch: ['<rootDir>/test/chaos/**/*.chaos-spec.ts'],
    },
    {
      ...shared,
      ...withPostgres,
      displayName: 'geth',
      testMatch: ['<rootDir>/test/geth/**/*.geth-spec.ts'],
    },
    {
      ...shared,
      ...withPostgres,
      displayName: 'nats',
      testMatch: ['<rootDir>/test/nats/**/*.nats-spec.ts'],
    },
    { ...shared, displayName: 'breaking', testMatch: ['<rootDir>/test/breaking/**/*.breaking-spec.ts'] },
    ...['go-client', 'python-client'].map((displayName) => ({
      ...shared,
      ...withPostgres,
      displayName,
      testMatch: [`<rootDir>/test/generated-clients/*.${displayName}-spec.ts`],
    })),
  ],
};
