import { LaunchError } from './launch-error.js';

/** What `npm start` has to start. */
export type LaunchPlan =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'config-file'; readonly path: string }
  | { readonly kind: 'given'; readonly rpcUrls: readonly string[]; readonly signerKeys: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

/** @param configFile the path of ./lockstep.yaml when there is one */
export function planLaunch(env: Environment, configFile: string | null): LaunchPlan {
  const path = env.LOCKSTEP_CONFIG || configFile;
  if (path) return { kind: 'config-file', path };
  const rpcUrls = list(env.RPC_URL);
  const database = Boolean(env.DATABASE_URL);
  if (!database && rpcUrls.length === 0) return { kind: 'embedded' };
  if (database && rpcUrls.length > 0) return { kind: 'given', rpcUrls, signerKeys: list(env.SIGNER_PRIVATE_KEYS) };
  throw new LaunchError(
    `${database ? 'DATABASE_URL is set and RPC_URL is not' : 'RPC_URL is set and DATABASE_URL is not'}: ` +
      'set both to use your own database and node, or neither for an embedded database and a dev chain.',
  );
}

export function portFrom(env: Environment, fallback: number): number {
  const text = env.PORT;
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new LaunchError(`PORT must be a number from 1 to 65535, and is "${text}".`);
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
