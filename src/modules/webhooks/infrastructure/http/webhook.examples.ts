/** Example bodies in Swagger. */
export const CREATE_EXAMPLES = {
  all: { summary: 'Every event', value: { url: 'https://example.com/lockstep' } },
  some: {
    summary: 'Final states on one chain',
    value: {
      url: 'https://example.com/lockstep',
      description: 'ledger',
      types: ['tx.confirmed', 'tx.failed', 'tx.cancelled', 'tx.replaced', 'tx.dropped'],
      chainIds: [31337],
    },
  },
  callback: {
    summary: 'For requests that name it as their callback',
    value: { url: 'https://example.com/lockstep', callbackOnly: true },
  },
};

export const CHANGE_EXAMPLES = {
  url: { summary: 'Another URL', value: { url: 'https://example.com/lockstep/v2' } },
  disable: { summary: 'Disable it', value: { enabled: false } },
  enable: { summary: 'Enable it again', value: { enabled: true } },
};

export const ROTATE_EXAMPLES = {
  day: { summary: 'Both secrets sign for a day', value: {} },
  now: { summary: 'A secret has leaked: all old ones end now', value: { keepOldHours: 0 } },
};

export const REPLAY_EXAMPLES = {
  dead: { summary: 'All that were given up', value: { status: 'dead' } },
  range: {
    summary: 'All events of a time',
    value: { since: '2026-11-21T08:00:00.000Z', until: '2026-11-21T12:00:00.000Z' },
  },
};
