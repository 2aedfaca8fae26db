/*
 * What is loaded when the product runs: type-only imports are gone, so this sees what a domain file really pulls in, through index
 * files, too. It starts at the domains and the kernel and follows what they load; the rest of src, which they must not reach, costs
 * four times as much to read. The graph of the source, types included, is in .dependency-cruiser.cjs.
 */
const { options } = require('./.dependency-cruiser.cjs');

const DOMAIN = '^src/modules/[^/]+/domain/';

module.exports = {
  forbidden: [
    {
      name: 'domain-runs-alone',
      comment:
        'A domain file loads the kernel and domain files only: no Nest, no TypeORM, no ethers, no Node module, however far away.',
      severity: 'error',
      from: { path: DOMAIN },
      to: { reachable: true, pathNot: ['^src/kernel/', DOMAIN] },
    },
    {
      name: 'kernel-runs-alone',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { reachable: true, pathNot: '^src/kernel/' },
    },
  ],
  options: { ...options, tsPreCompilationDeps: false },
};
