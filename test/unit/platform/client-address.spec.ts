import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { InvalidInput } from '../../../src/kernel/errors.js';
import { clientAddress } from '../../../src/platform/http/client-address.js';
import { signerOfPath } from '../../../src/platform/http/path-params.js';

/** Of the text of EIP-55. */
const EIP_55 = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];
/** Of the text of EIP-1191. */
const EIP_1191: readonly [number, readonly string[]][] = [
  [
    30,
    [
      '0x27b1FdB04752BBc536007A920D24ACB045561c26',
      '0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD',
      '0xD1220A0Cf47c7B9BE7a2e6ba89F429762E7B9adB',
      '0xFb6916095cA1Df60bb79ce92cE3EA74c37c5d359',
    ],
  ],
  [
    31,
    [
      '0x27B1FdB04752BbC536007a920D24acB045561C26',
      '0x5aAeb6053F3e94c9b9A09F33669435E7EF1BEaEd',
      '0xd1220a0CF47c7B9Be7A2E6Ba89f429762E7b9adB',
      '0xFb6916095CA1dF60bb79CE92ce3Ea74C37c5D359',
    ],
  ],
];
const [, , , , MIXED = ''] = EIP_55;
const TYPO = MIXED.replace('5aAeb', '5aAea');

describe('an address of a client', () => {
  it.each([1, 30, 31, [1, 30], null])('may have the checksum of EIP-55 on chain %p', (chains) => {
    expect(EIP_55.map((text) => clientAddress(text, chains))).toEqual(EIP_55.map((text) => text.toLowerCase()));
  });

  it.each(EIP_1191)('may have the checksum of EIP-1191 on chain %i, and on no other one', (chainId, texts) => {
    const lower = texts.map((text) => text.toLowerCase());
    for (const chains of [chainId, [1, chainId], null, undefined])
      expect(texts.map((text) => clientAddress(text, chains))).toEqual(lower);
    for (const chains of [1, 61 - chainId, [1, 61 - chainId], []])
      for (const text of texts) expect(() => clientAddress(text, chains)).toThrow(InvalidInput);
  });

  it.each(['0x', '0X'])('may be in one case, whatever its digits are, after %s', (prefix) => {
    const lower = TYPO.toLowerCase();
    expect(clientAddress(`${prefix}${lower.slice(2)}`, 1)).toBe(lower);
    expect(clientAddress(`${prefix}${lower.slice(2).toUpperCase()}`, 1)).toBe(lower);
    expect(clientAddress(`${prefix}${MIXED.slice(2)}`, 1)).toBe(MIXED.toLowerCase());
    expect(clientAddress(`${prefix}${'1'.repeat(40)}`, 1)).toBe(`0x${'1'.repeat(40)}`);
  });

  it('is refused for one digit or one capital too many or too few, and told what it should be', () => {
    const swapped = MIXED.replace('aA', 'AA');
    expect(() => clientAddress(swapped, 1)).toThrow(
      expect.objectContaining({
        code: 'invalid_checksum',
        message: expect.stringContaining(MIXED),
        advice: expect.stringContaining('lower case'),
        retryable: false,
        facts: { address: swapped, expected: [MIXED] },
      }),
    );
    expect(() => clientAddress(TYPO, 1)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }));
    for (let at = 2; at < MIXED.length; at += 1) {
      const digit = MIXED.charAt(at);
      const other = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
      if (other === digit) continue;
      const text = MIXED.slice(0, at) + other + MIXED.slice(at + 1);
      expect(() => clientAddress(text, 30)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }));
    }
  });

  it('is refused where it is none', () => {
    expect(() => clientAddress(`${MIXED}0`, 1)).toThrow(expect.objectContaining({ code: 'invalid_address' }));
  });

  /** From public trackers (docs/public-cases.md). On Rootstock the checksum of EIP-55 is right, too. */
  it.each<[string, number, string, string | null]>([
    ['rsksmart/rwallet#104', 30, '0x9596797E8E36E30662AA2097EB826833164f9Cf9', null],
    ['rsksmart/rwallet#104', 30, '0x9596797e8e36e30662aA2097eb826833164f9cf9', 'invalid_checksum'],
    ['rsksmart/rwallet#104', 31, '0x044F4Bf77E635018d6FC299883cA3A49E8406966', null],
    ['poanetwork/nifty-wallet#294', 1, '0xDf682CB153E8af3E13E90e9ACD79a39DDe98eBd8', null],
    ['poanetwork/nifty-wallet#294', 30, '0xdF682cb153E8AF3E13E90e9aCD79A39Dde98EBD8', null],
    ['poanetwork/nifty-wallet#294', 1, '0xdF682cb153E8AF3E13E90e9aCD79A39Dde98EBD8', 'invalid_checksum'],
    ['poanetwork/nifty-wallet#412', 30, '0x6DceA26cee6007666402DC7F60079a71d94c0197', null],
    ['poanetwork/nifty-wallet#412', 30, '0x6dCea26CEe6007666402Dc7F60079a71d94C0197', null],
    ['MyEtherWallet/etherwallet#1924', 1, '0xAA7f9d16df7eb2ec96ca6318b0129423730a87ac', 'invalid_checksum'],
    ['MetaMask/metamask-extension#9175', 1, '0XAA7F9D16DF7EB2EC96CA6318B0129423730A87AC', null],
    ['XinFinOrg/XDPoSChain#162', 50, 'xdcb1efd51de35f2966c770cd35b953f4fdade3c3e8', 'invalid_address'],
  ])('%s: on chain %i %s is answered %p', (_source, chainId, text, code) => {
    if (code === null) expect(clientAddress(text, chainId)).toBe(text.toLowerCase());
    else expect(() => clientAddress(text, chainId)).toThrow(expect.objectContaining({ code }));
  });

  it('is checked in a path', () => {
    const [rootstock = ''] = EIP_1191[0]?.[1] ?? [];
    expect(signerOfPath('30', rootstock, ANYONE)).toEqual({ chainId: 30, address: rootstock.toLowerCase() });
    expect(() => signerOfPath('1', rootstock, ANYONE)).toThrow(expect.objectContaining({ code: 'invalid_checksum' }));
  });
});
