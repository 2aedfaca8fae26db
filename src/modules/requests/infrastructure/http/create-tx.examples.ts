const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

/** Example bodies in Swagger. */
export const CREATE_TX_EXAMPLES = {
  transfer: {
    summary: 'A transfer',
    value: {
      signer,
      requestId: 'invoice-4711',
      payload: { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', value: '1000000000000000' },
    },
  },
  call: {
    summary: 'A contract call with explicit fees',
    value: {
      chainId: 31337,
      signer,
      requestId: 'mint-42',
      payload: {
        to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        data: '0xa0712d68000000000000000000000000000000000000000000000000000000000000002a',
        gasLimit: '120000',
      },
      fees: { maxFeePerGas: '30000000000', maxPriorityFeePerGas: '1000000000' },
      speed: 'fast',
      confirmations: 5,
      metadata: { order: '42' },
    },
  },
  encoded: {
    summary: 'A contract call that Lockstep encodes',
    value: {
      signer,
      requestId: 'pay-7',
      payload: {
        to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        call: { function: 'transfer(address,uint256)', args: ['0x5FbDB2315678afecb367f032d93F642f64180aa3', '1000'] },
      },
    },
  },
  legacy: {
    summary: 'A transaction with one gas price',
    value: {
      signer,
      requestId: 'legacy-1',
      payload: { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', value: '1' },
      fees: { gasPrice: '20000000000' },
    },
  },
  delegate: {
    summary: 'An account delegates to a contract (EIP-7702), with an authorization that its owner has signed',
    value: {
      signer,
      requestId: 'delegate-1',
      payload: {
        to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        authorizationList: [
          {
            address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
            nonce: '0',
            yParity: 0,
            r: `0x${'12'.repeat(32)}`,
            s: `0x${'34'.repeat(32)}`,
          },
        ],
      },
    },
  },
  create: {
    summary: 'A contract creation',
    value: { signer, requestId: 'deploy-1', payload: { data: '0x6001600c60003960016000f300' } },
  },
};
