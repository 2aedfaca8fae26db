import { stringify } from 'yaml';
import { DEV_CHAIN_ID, DEV_MNEMONIC } from './dev-accounts.js';
import { LaunchError } from './launch-error.js';

/** A config file, and the variables that it refers to; secrets are only in the variables, and not in the file. */
export interface ServiceConfig {
  readonly yaml: string;
  readonly env: Readonly<Record<string, string>>;
}

const DEV_SIGNERS = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 10 }];

const WEBHOOKS = { encryptionKeys: ['${WEBHOOK_KEY}'] };

/** For the embedded database and dev chain. */
export function devConfig(databaseUrl: string, rpcUrl: string, port: number, webhookKey: string): ServiceConfig {
  const chain = { id: DEV_CHAIN_ID, rpcUrls: [rpcUrl], pollInterval: '250ms', signers: DEV_SIGNERS };
  return {
    yaml: file({
      // The dev keys are public: only this machine may submit transactions.
      server: { host: '127.0.0.1', port },
      database: { url: '${DATABASE_URL}' },
      confirmations: { required: 3 },
      webhooks: WEBHOOKS,
      chains: [chain],
    }),
    env: { DATABASE_URL: databaseUrl, WEBHOOK_KEY: webhookKey },
  };
}

/** For a database and nodes from the environment. */
export function givenConfig(
  chainId: number,
  given: { readonly rpcUrls: readonly string[]; readonly signerKeys: readonly string[] },
  port: number,
  webhookKey: string,
): ServiceConfig {
  const { rpcUrls, signerKeys } = given;
  if (signerKeys.length === 0 && chainId !== DEV_CHAIN_ID) {
    throw new LaunchError(
      `Set SIGNER_PRIVATE_KEYS (0x and 64 hex digits, several with commas): chain ${String(chainId)} is not a dev ` +
        `chain (${String(DEV_CHAIN_ID)}), so there are no known dev accounts to sign with.`,
    );
  }
  const signers = signerKeys.map((_, index) => ({
    type: 'privateKey',
    key: `\${SIGNER_PRIVATE_KEY_${String(index)}}`,
  }));
  const chain = {
    id: chainId,
    rpcUrls: rpcUrls.map((_, index) => `\${RPC_URL_${String(index)}}`),
    signers: signers.length > 0 ? signers : DEV_SIGNERS,
  };
  return {
    yaml: file({ server: { port }, database: { url: '${DATABASE_URL}' }, webhooks: WEBHOOKS, chains: [chain] }),
    env: { WEBHOOK_KEY: webhookKey, ...numbered('SIGNER_PRIVATE_KEY', signerKeys), ...numbered('RPC_URL', rpcUrls) },
  };
}

function numbered(name: string, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(values.map((value, index) => [`${name}_${String(index)}`, value]));
}

function file(content: object): string {
  return `# Written by npm start at every start. Copy it to ./lockstep.yaml to make it your own.\n${stringify(content)}`;
}
