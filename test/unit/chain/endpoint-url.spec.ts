import { describe, expect, it } from '@jest/globals';
import { EndpointUrl } from '../../../src/modules/chain/infrastructure/rpc/endpoint-url.js';

const KEY = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';

describe('a key in the name of a host', () => {
  it.each([
    [`https://${KEY}.eth.rpc.example`, '#0 https://***.eth.rpc.example'],
    [`https://${KEY.toUpperCase()}.quiknode.pro:8443/path`, '#0 https://***.quiknode.pro:8443'],
    ['https://nd-6eawj5fa5zc4ljkv4y5kw2xvva.provider.example', '#0 https://***.provider.example'],
    ['https://123e4567-e89b-12d3-a456-426614174000.nodes.example', '#0 https://***.nodes.example'],
    [`wss://eth.${KEY}.nodes.example`, '#0 wss://eth.***.nodes.example'],
  ])('is not shown: %s', (url, label) => {
    expect(EndpointUrl.parse(url, 0, url.startsWith('ws') ? 'ws' : 'http').label).toBe(label);
  });

  it.each([
    'http://127.0.0.1:8545',
    'http://[2001:db8:85a3::8a2e:370:7334]:8545',
    'http://localhost:8545',
    'https://ethereum-mainnet-production-1.rpc.example',
    'http://geth-0.geth-headless.blockchain.svc.cluster.local:8545',
    'https://ec2-12-34-56-78.compute-1.amazonaws.com',
    'https://arbitrumsepoliatestnet.rpc.example',
  ])('is not seen where there is none: %s', (url) => {
    expect(EndpointUrl.parse(url, 3).label).toBe(`#3 ${url}`);
  });

  it('is taken out of texts from outside, in any case', () => {
    const url = EndpointUrl.parse(`https://${KEY}.quiknode.pro/`, 0);
    expect(url.clean(`getaddrinfo ENOTFOUND ${KEY}.quiknode.pro`)).toBe('getaddrinfo ENOTFOUND ***.quiknode.pro');
    expect(url.clean(`no host ${KEY.toUpperCase()}`)).toBe('no host ***');
  });
});
