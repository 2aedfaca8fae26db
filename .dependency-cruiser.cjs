/*
 * The module graph of docs/architecture.md. There are no exceptions: a rule that is in the way is a question about the
 * design. Type-only imports count like all others: what a type is drawn from is a dependency, too.
 *
 *   kernel <- chain <- signers <- policies <- ledger <- sending <- nonces <- lanes, confirmations
 *   ledger <- lost-commits <- nonces, lanes, commands
 *   ledger <- requests <- commands
 *   policies <- requests, sending, nonces, commands, lanes, confirmations, permits
 *   sending <- commands
 *   events <- ledger, webhooks,   ops reads all
 */

/** What each module may use of the others. */
const MAY_USE = {
  access: [],
  chain: [],
  events: [],
  signers: [],
  policies: ['signers'],
  ledger: ['chain', 'signers', 'policies', 'events'],
  requests: ['chain', 'signers', 'policies', 'events', 'ledger'],
  sending: ['chain', 'signers', 'policies', 'ledger'],
  'lost-commits': ['chain', 'events', 'signers', 'ledger'],
  nonces: ['chain', 'signers', 'policies', 'events', 'ledger', 'sending', 'lost-commits'],
  commands: ['chain', 'events', 'signers', 'policies', 'ledger', 'requests', 'sending', 'lost-commits'],
  lanes: ['chain', 'events', 'signers', 'policies', 'ledger', 'sending', 'lost-commits', 'nonces'],
  confirmations: ['chain', 'signers', 'policies', 'ledger', 'lost-commits', 'nonces'],
  permits: ['chain', 'signers', 'policies', 'ledger'],
  webhooks: ['events'],
  retention: ['ledger'],
  broker: ['events'],
  ops: [
    'access',
    'chain',
    'events',
    'signers',
    'policies',
    'ledger',
    'requests',
    'sending',
    'lost-commits',
    'nonces',
    'commands',
    'lanes',
    'confirmations',
  ],
};

const DOORS = '^src/modules/[^/]+/(index|[^/]+\\.module)\\.ts$';
/** For the domains of other modules: the part of index.ts that loads no package (see .dependency-cruiser-runtime.cjs). */
const DOMAIN_DOOR = '^src/modules/[^/]+/domain/index\\.ts$';

const oneWay = Object.entries(MAY_USE).map(([name, others]) => ({
  name: `${name}-looks-one-way`,
  comment: `${name} may use only: ${['kernel', 'platform', 'config', ...others].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/modules/${name}/` },
  to: { path: '^src/modules/', pathNot: `^src/modules/(${[name, ...others].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...oneWay,
    {
      name: 'every-module-is-in-the-graph',
      comment: 'A new module gets its line in MAY_USE first.',
      severity: 'error',
      from: { path: '^src/modules/', pathNot: `^src/modules/(${Object.keys(MAY_USE).join('|')})/` },
      to: {},
    },
    {
      name: 'two-doors',
      comment: 'A module enters another one through its index.ts or its <name>.module.ts only.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/', pathNot: '^src/modules/[^/]+/domain/' },
      to: { path: '^src/modules/', pathNot: ['^src/modules/$1/', DOORS] },
    },
    {
      name: 'two-doors-for-the-domain',
      comment: 'A domain takes types from the index.ts of another module, and what it runs from its domain/index.ts.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/domain/' },
      to: { path: '^src/modules/', pathNot: ['^src/modules/$1/', DOORS, DOMAIN_DOOR] },
    },
    {
      name: 'two-doors-for-the-app',
      comment: 'So does the application.',
      severity: 'error',
      from: { path: '^src/[^/]+$' },
      to: { path: '^src/modules/', pathNot: DOORS },
    },
    {
      name: 'kernel-imports-nothing',
      comment: 'The kernel is pure: no package, no Node module, nothing of ours.',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { pathNot: '^src/kernel/' },
    },
    {
      name: 'platform-knows-no-business',
      comment: 'platform uses the kernel, the config and packages.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/(platform|kernel|config)/' },
    },
    {
      name: 'config-knows-no-business',
      severity: 'error',
      from: { path: '^src/config/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(config|kernel)/|^src/custody/custody-(entry|types)\\.ts$|^src/sinks/(event-sink|sink-types)\\.ts$',
      },
    },
    {
      name: 'custody-knows-keys-only',
      comment:
        'A custody is an entry of the config that lists keys and signs. Of the config it uses what every entry is made of.',
      severity: 'error',
      from: { path: '^src/custody/' },
      to: {
        path: '^src/',
        pathNot: '^src/(custody|kernel|platform/(crypto|scheduling))/|^src/config/config-fields\\.ts$',
      },
    },
    {
      name: 'sinks-know-messages-only',
      comment: 'A sink is the section `broker` of the config and publishes. What it publishes is made elsewhere.',
      severity: 'error',
      from: { path: '^src/sinks/' },
      to: { path: '^src/', pathNot: '^src/(sinks|kernel)/|^src/config/config-(fields|mistakes)\\.ts$' },
    },
    {
      name: 'a-sink-is-known-by-its-list-only',
      comment: 'Nothing outside the folder of a sink knows its broker.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sinks/' },
      to: { path: '^src/sinks/[^/]+/' },
    },
    {
      name: 'domain-is-plain',
      comment: 'domain/ uses the kernel, its own domain and the doors of other modules: no package, no Node module.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/domain/' },
      to: { pathNot: ['^src/kernel/', '^src/modules/$1/domain/', '^src/modules/[^/]+/index\\.ts$', DOMAIN_DOOR] },
    },
    {
      name: 'domain-does-not-use-its-own-door',
      comment: 'The door shows more than the domain.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/domain/' },
      to: { path: '^src/modules/$1/index\\.ts$' },
    },
    {
      name: 'application-knows-no-adapter',
      comment: 'Use-cases see ports, not their adapters.',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/application/' },
      to: { path: '^src/modules/[^/]+/infrastructure/' },
    },
    {
      name: 'application-knows-no-package',
      comment: 'The one package of a use-case is @nestjs/common, for injection.',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/application/' },
      to: { path: '(^|/)node_modules/', pathNot: '(^|/)node_modules/@nestjs/common/' },
    },
    {
      name: 'only-the-app-composes',
      comment: 'Modules are put together in src/app.module.ts; kernel, platform and config never see one.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(modules/|(main|cli|cli-signers|app\\.module|openapi)\\.ts$)' },
      to: { path: '^src/modules/' },
    },
    {
      name: 'nobody-needs-the-app',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main|app\\.module|api-document)\\.ts$' },
      to: { path: '^src/(main|app\\.module)\\.ts$' },
    },
    {
      name: 'dev-stack-is-outside',
      comment: 'The dev stack starts the service as a process; it shares only what knows no business.',
      severity: 'error',
      from: { path: '^src/dev/' },
      to: { path: '^src/', pathNot: '^src/(dev|kernel|platform|config)/' },
    },
    {
      name: 'nobody-needs-the-dev-stack',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/dev/' },
      to: { path: '^src/dev/' },
    },
    {
      name: 'product-needs-no-test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'tests-need-no-benchmark',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: '^bench/' },
    },
    {
      name: 'benchmark-is-outside',
      comment: 'It measures the product; of the tests it shares their support.',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^test/', pathNot: '^test/support/' },
    },
    {
      name: 'production-needs-no-dev-package',
      severity: 'error',
      comment: 'An optional peer is installed by who uses it, and here for the tests.',
      from: { path: '^src/', pathNot: '^src/dev/' },
      to: { dependencyTypesNot: ['npm-peer'], dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      comment: 'A file that nothing uses and that uses nothing is forgotten.',
      severity: 'error',
      from: { orphan: true, path: '^src/' },
      to: {},
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|test/clients)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Type-only imports are imports.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
