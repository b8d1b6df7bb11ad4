// Written by compile.ts from src/Marketplace.sol. Do not edit.

export const marketplaceAbi = [
  {
    inputs: [
      {
        internalType: 'contract IERC20',
        name: 'usdc_',
        type: 'address',
      },
      {
        internalType: 'uint64',
        name: 'provingPeriod_',
        type: 'uint64',
      },
      {
        internalType: 'uint64',
        name: 'acceptanceWindow_',
        type: 'uint64',
      },
      {
        internalType: 'uint256',
        name: 'firstDealId',
        type: 'uint256',
      },
      {
        internalType: 'uint16',
        name: 'seedDelay_',
        type: 'uint16',
      },
      {
        internalType: 'address',
        name: 'beacon_',
        type: 'address',
      },
    ],
    stateMutability: 'nonpayable',
    type: 'constructor',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'AcceptanceOver',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'AlreadyEnding',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'AlreadyProven',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'ChallengeAlreadyOpen',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'ChallengeLapsed',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'ChallengeNotDrawn',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'ChallengeNotOpen',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'DealOver',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'duration',
        type: 'uint256',
      },
    ],
    name: 'DurationOutOfRange',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'firstDealId',
        type: 'uint256',
      },
    ],
    name: 'InvalidFirstDealId',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'InvalidHeader',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint64',
        name: 'leafCount',
        type: 'uint64',
      },
    ],
    name: 'InvalidLeafCount',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint64',
        name: 'pieceSize',
        type: 'uint64',
      },
    ],
    name: 'InvalidPieceSize',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'InvalidProof',
    type: 'error',
  },
  {
    inputs: [],
    name: 'NoProposals',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'number',
        type: 'uint256',
      },
    ],
    name: 'NoRandomness',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'NoSeed',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'address',
        name: 'caller',
        type: 'address',
      },
    ],
    name: 'NotClient',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'address',
        name: 'caller',
        type: 'address',
      },
    ],
    name: 'NotProver',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'NothingMissed',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'NothingToSettle',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'bytes32',
        name: 'termsHash',
        type: 'bytes32',
      },
    ],
    name: 'OtherTerms',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'payment',
        type: 'uint256',
      },
    ],
    name: 'PaymentTooLarge',
    type: 'error',
  },
  {
    inputs: [],
    name: 'ReentrancyGuardReentrantCall',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'token',
        type: 'address',
      },
    ],
    name: 'SafeERC20FailedOperation',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'enum IMarketplace.State',
        name: 'state',
        type: 'uint8',
      },
    ],
    name: 'WrongState',
    type: 'error',
  },
  {
    inputs: [],
    name: 'ZeroAddress',
    type: 'error',
  },
  {
    inputs: [],
    name: 'ZeroPeriod',
    type: 'error',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'amount',
        type: 'uint256',
      },
    ],
    name: 'BondReleased',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint32',
        name: 'period',
        type: 'uint32',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'seedBlock',
        type: 'uint256',
      },
    ],
    name: 'ChallengeOpened',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'endsAt',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'bond',
        type: 'uint256',
      },
    ],
    name: 'DealAccepted',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'endsAt',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'refund',
        type: 'uint256',
      },
    ],
    name: 'DealEnding',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint64',
        name: 'extraDuration',
        type: 'uint64',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'extraPayment',
        type: 'uint256',
      },
    ],
    name: 'DealExtended',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: true,
        internalType: 'address',
        name: 'client',
        type: 'address',
      },
      {
        indexed: true,
        internalType: 'address',
        name: 'prover',
        type: 'address',
      },
      {
        indexed: false,
        internalType: 'bytes32',
        name: 'commp',
        type: 'bytes32',
      },
      {
        indexed: false,
        internalType: 'uint64',
        name: 'pieceSize',
        type: 'uint64',
      },
      {
        indexed: false,
        internalType: 'uint64',
        name: 'leafCount',
        type: 'uint64',
      },
      {
        indexed: false,
        internalType: 'uint64',
        name: 'duration',
        type: 'uint64',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'totalPayment',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'bond',
        type: 'uint256',
      },
    ],
    name: 'DealProposed',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'DealSettled',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'refund',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'forfeited',
        type: 'uint256',
      },
    ],
    name: 'DealSlashed',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'refund',
        type: 'uint256',
      },
    ],
    name: 'DealWithdrawn',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: true,
        internalType: 'address',
        name: 'to',
        type: 'address',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'pay',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'bond',
        type: 'uint256',
      },
    ],
    name: 'Paid',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint32',
        name: 'period',
        type: 'uint32',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'refund',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'forfeited',
        type: 'uint256',
      },
    ],
    name: 'PeriodMissed',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'uint32',
        name: 'period',
        type: 'uint32',
      },
      {
        indexed: false,
        internalType: 'uint256',
        name: 'pay',
        type: 'uint256',
      },
    ],
    name: 'PeriodProven',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        indexed: false,
        internalType: 'bytes4',
        name: 'reason',
        type: 'bytes4',
      },
    ],
    name: 'Skipped',
    type: 'event',
  },
  {
    inputs: [],
    name: 'BOND_PARTS',
    outputs: [
      {
        internalType: 'uint256',
        name: '',
        type: 'uint256',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'CHALLENGED_LEAVES',
    outputs: [
      {
        internalType: 'uint256',
        name: '',
        type: 'uint256',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'MAX_DURATION',
    outputs: [
      {
        internalType: 'uint64',
        name: '',
        type: 'uint64',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'MAX_PAYMENT',
    outputs: [
      {
        internalType: 'uint96',
        name: '',
        type: 'uint96',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'MISSES_TO_SLASH',
    outputs: [
      {
        internalType: 'uint8',
        name: '',
        type: 'uint8',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'VERSION',
    outputs: [
      {
        internalType: 'uint256',
        name: '',
        type: 'uint256',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'bytes32',
        name: 'termsHash',
        type: 'bytes32',
      },
    ],
    name: 'acceptDeal',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [],
    name: 'acceptanceWindow',
    outputs: [
      {
        internalType: 'uint64',
        name: '',
        type: 'uint64',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'beacon',
    outputs: [
      {
        internalType: 'address',
        name: '',
        type: 'address',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'bytes',
        name: 'header',
        type: 'bytes',
      },
    ],
    name: 'challengedLeaves',
    outputs: [
      {
        internalType: 'uint256[5]',
        name: 'leaves',
        type: 'uint256[5]',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'deals',
    outputs: [
      {
        components: [
          {
            internalType: 'address',
            name: 'client',
            type: 'address',
          },
          {
            internalType: 'address',
            name: 'prover',
            type: 'address',
          },
          {
            internalType: 'enum IMarketplace.State',
            name: 'state',
            type: 'uint8',
          },
          {
            internalType: 'bool',
            name: 'isEnding',
            type: 'bool',
          },
          {
            internalType: 'enum IMarketplace.BondState',
            name: 'bondState',
            type: 'uint8',
          },
          {
            internalType: 'uint8',
            name: 'missesInARow',
            type: 'uint8',
          },
          {
            internalType: 'uint32',
            name: 'misses',
            type: 'uint32',
          },
          {
            internalType: 'uint32',
            name: 'period',
            type: 'uint32',
          },
          {
            internalType: 'uint40',
            name: 'since',
            type: 'uint40',
          },
          {
            internalType: 'uint40',
            name: 'duration',
            type: 'uint40',
          },
          {
            internalType: 'uint40',
            name: 'accountedUntil',
            type: 'uint40',
          },
          {
            internalType: 'uint40',
            name: 'seedBlock',
            type: 'uint40',
          },
          {
            internalType: 'uint40',
            name: 'extraDuration',
            type: 'uint40',
          },
          {
            internalType: 'bytes32',
            name: 'commp',
            type: 'bytes32',
          },
          {
            internalType: 'uint64',
            name: 'pieceSize',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'leafCount',
            type: 'uint64',
          },
          {
            internalType: 'uint96',
            name: 'remaining',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'extraPayment',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'earned',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'refundable',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'bond',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'bondLeft',
            type: 'uint96',
          },
          {
            internalType: 'uint96',
            name: 'forfeited',
            type: 'uint96',
          },
        ],
        internalType: 'struct IMarketplace.Deal',
        name: 'deal',
        type: 'tuple',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'client',
        type: 'address',
      },
      {
        internalType: 'uint256',
        name: 'before',
        type: 'uint256',
      },
      {
        internalType: 'uint256',
        name: 'limit',
        type: 'uint256',
      },
    ],
    name: 'dealsOfClient',
    outputs: [
      {
        internalType: 'uint256[]',
        name: 'dealIds',
        type: 'uint256[]',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'prover',
        type: 'address',
      },
      {
        internalType: 'uint256',
        name: 'before',
        type: 'uint256',
      },
      {
        internalType: 'uint256',
        name: 'limit',
        type: 'uint256',
      },
    ],
    name: 'dealsOfProver',
    outputs: [
      {
        internalType: 'uint256[]',
        name: 'dealIds',
        type: 'uint256[]',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'endDeal',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'endsAt',
    outputs: [
      {
        internalType: 'uint256',
        name: '',
        type: 'uint256',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'uint64',
        name: 'extraDuration',
        type: 'uint64',
      },
      {
        internalType: 'uint256',
        name: 'extraPayment',
        type: 'uint256',
      },
    ],
    name: 'extendDeal',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [],
    name: 'lastDealId',
    outputs: [
      {
        internalType: 'uint256',
        name: '',
        type: 'uint256',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'openChallenge',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256[]',
        name: 'dealIds',
        type: 'uint256[]',
      },
    ],
    name: 'openMany',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        components: [
          {
            internalType: 'address',
            name: 'prover',
            type: 'address',
          },
          {
            internalType: 'bytes32',
            name: 'commp',
            type: 'bytes32',
          },
          {
            internalType: 'uint64',
            name: 'pieceSize',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'leafCount',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'duration',
            type: 'uint64',
          },
          {
            internalType: 'uint256',
            name: 'totalPayment',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'bond',
            type: 'uint256',
          },
        ],
        internalType: 'struct IMarketplace.Proposal',
        name: 'proposal',
        type: 'tuple',
      },
    ],
    name: 'proposeDeal',
    outputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        components: [
          {
            internalType: 'address',
            name: 'prover',
            type: 'address',
          },
          {
            internalType: 'bytes32',
            name: 'commp',
            type: 'bytes32',
          },
          {
            internalType: 'uint64',
            name: 'pieceSize',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'leafCount',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'duration',
            type: 'uint64',
          },
          {
            internalType: 'uint256',
            name: 'totalPayment',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'bond',
            type: 'uint256',
          },
        ],
        internalType: 'struct IMarketplace.Proposal[]',
        name: 'proposals',
        type: 'tuple[]',
      },
    ],
    name: 'proposeDeals',
    outputs: [
      {
        internalType: 'uint256[]',
        name: 'dealIds',
        type: 'uint256[]',
      },
    ],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        components: [
          {
            internalType: 'address',
            name: 'prover',
            type: 'address',
          },
          {
            internalType: 'bytes32',
            name: 'commp',
            type: 'bytes32',
          },
          {
            internalType: 'uint64',
            name: 'pieceSize',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'leafCount',
            type: 'uint64',
          },
          {
            internalType: 'uint64',
            name: 'duration',
            type: 'uint64',
          },
          {
            internalType: 'uint256',
            name: 'totalPayment',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'bond',
            type: 'uint256',
          },
        ],
        internalType: 'struct IMarketplace.Proposal[]',
        name: 'proposals',
        type: 'tuple[]',
      },
      {
        internalType: 'uint256',
        name: 'value',
        type: 'uint256',
      },
      {
        internalType: 'uint256',
        name: 'deadline',
        type: 'uint256',
      },
      {
        internalType: 'uint8',
        name: 'v',
        type: 'uint8',
      },
      {
        internalType: 'bytes32',
        name: 'r',
        type: 'bytes32',
      },
      {
        internalType: 'bytes32',
        name: 's',
        type: 'bytes32',
      },
    ],
    name: 'proposeDealsWithPermit',
    outputs: [
      {
        internalType: 'uint256[]',
        name: 'dealIds',
        type: 'uint256[]',
      },
    ],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
      {
        internalType: 'bytes',
        name: 'header',
        type: 'bytes',
      },
      {
        internalType: 'bytes32[]',
        name: 'nodes',
        type: 'bytes32[]',
      },
    ],
    name: 'prove',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'bytes[]',
        name: 'headers',
        type: 'bytes[]',
      },
      {
        components: [
          {
            internalType: 'uint256',
            name: 'dealId',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'header',
            type: 'uint256',
          },
          {
            internalType: 'bytes32[]',
            name: 'nodes',
            type: 'bytes32[]',
          },
        ],
        internalType: 'struct IMarketplace.DealProof[]',
        name: 'proofs',
        type: 'tuple[]',
      },
    ],
    name: 'proveMany',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [],
    name: 'provingPeriod',
    outputs: [
      {
        internalType: 'uint64',
        name: '',
        type: 'uint64',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'seedDelay',
    outputs: [
      {
        internalType: 'uint16',
        name: '',
        type: 'uint16',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'settle',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'slash',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'termsHashOf',
    outputs: [
      {
        internalType: 'bytes32',
        name: '',
        type: 'bytes32',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'fromDealId',
        type: 'uint256',
      },
      {
        internalType: 'uint256',
        name: 'toDealId',
        type: 'uint256',
      },
    ],
    name: 'totals',
    outputs: [
      {
        components: [
          {
            internalType: 'uint256',
            name: 'escrowed',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'earned',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'refundable',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'bonded',
            type: 'uint256',
          },
          {
            internalType: 'uint256',
            name: 'forfeited',
            type: 'uint256',
          },
        ],
        internalType: 'struct IMarketplace.Totals',
        name: 'sum',
        type: 'tuple',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'usdc',
    outputs: [
      {
        internalType: 'contract IERC20',
        name: '',
        type: 'address',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'uint256',
        name: 'dealId',
        type: 'uint256',
      },
    ],
    name: 'withdrawDeal',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
] as const

export const marketplaceBytecode =
  '0x610120604052348015610010575f5ffd5b5060405161523738038061523783398101604081905261002f916102e7565b8585858585856001600160a01b03861661005c5760405163d92e233d60e01b815260040160405180910390fd5b6001600160401b038516158061007957506001600160401b038416155b80610086575061ffff8216155b156100a45760405163586e5acb60e01b815260040160405180910390fd5b63bbf81e006001600160401b03861611156100e2576040516329ba052960e11b81526001600160401b03861660048201526024015b60405180910390fd5b63bbf81e006001600160401b038516111561011b576040516329ba052960e11b81526001600160401b03851660048201526024016100d9565b82158061012f575067800000000000000083115b1561015357604051600162219aeb60e21b03198152600481018490526024016100d9565b6001600160a01b038087166080526001600160401b0380871660a052851660c05261ffff831660e05281166101005261018d60018461035f565b5f5544600160801b11156001600160a01b038216156101b4576101b082436101e6565b5090505b806101d457604051637a12089f60e01b81524360048201526024016100d9565b505050505050505050505050506103b1565b5f5f5f5f856001600160a01b03168560405160200161020791815260200190565b60408051601f198184030181529082905261022191610384565b5f60405180830381855afa9150503d805f8114610259576040519150601f19603f3d011682016040523d82523d5f602084013e61025e565b606091505b509150915081158061027257508051602014155b1561028557505f92508291506102ae9050565b80806020019051810190610299919061039a565b92506102a983600160801b111590565b935050505b9250929050565b6001600160a01b03811681146102c9575f5ffd5b50565b80516001600160401b03811681146102e2575f5ffd5b919050565b5f5f5f5f5f5f60c087890312156102fc575f5ffd5b8651610307816102b5565b9550610315602088016102cc565b9450610323604088016102cc565b935060608701519250608087015161ffff81168114610340575f5ffd5b60a0880151909250610351816102b5565b809150509295509295509295565b8181038181111561037e57634e487b7160e01b5f52601160045260245ffd5b92915050565b5f82518060208501845e5f920191825250919050565b5f602082840312156103aa575f5ffd5b5051919050565b60805160a05160c05160e05161010051614de06104575f395f8181610397015281816124620152613e5001525f8181610219015261396001525f818161026901526121d401525f818161040401528181612c5f01528181612ca301528181612f18015261343401525f818161033d01528181610d0401528181610fed015281816114e001528181611c3e01528181612a09015281816133e901526141c70152614de05ff3fe608060405234801561000f575f5ffd5b50600436106101e7575f3560e01c80636c4ee38811610109578063b1724b461161009e578063f196385b1161006e578063f196385b14610524578063fa23813714610537578063fd8297931461053f578063ffa1ad7414610552575f5ffd5b8063b1724b46146104cd578063b1c1008c146104d8578063c8a4bedb146104fe578063d58567f714610511575f5ffd5b8063a7aecfda116100d9578063a7aecfda14610439578063ab4038cb1461048d578063abf6c7a6146104a0578063ade47f26146104ba575f5ffd5b80636c4ee388146103d9578063751379b2146103ec578063755c8938146103ff5780638df8280014610426575f5ffd5b80632c05352c1161017f57806344b1f6e01161014f57806344b1f6e01461037757806345bc4d101461037f57806359659e90146103925780635e0e661d146103b9575f5ffd5b80632c05352c146102ff57806334d5297a1461031257806335e0e86c146103255780633e413bee14610338575f5ffd5b80630fd2dc30116101ba5780630fd2dc30146102a45780631ac5348f146102c457806323ab9515146102d95780632b8983b1146102ec575f5ffd5b806303988f84146101eb5780630aef4781146102145780630e5de3ae1461024e5780630f53355d14610264575b5f5ffd5b6101fe6101f936600461443e565b61055a565b60405161020b9190614489565b60405180910390f35b61023b7f000000000000000000000000000000000000000000000000000000000000000081565b60405161ffff909116815260200161020b565b610256600581565b60405190815260200161020b565b61028b7f000000000000000000000000000000000000000000000000000000000000000081565b60405167ffffffffffffffff909116815260200161020b565b6102b76102b23660046146e4565b610817565b60405161020b9190614714565b6102d76102d236600461476d565b61094a565b005b6102d76102e736600461481f565b610d3c565b6102566102fa36600461443e565b610dd1565b6102b761030d3660046148d9565b610f66565b6102b7610320366004614918565b610f8a565b6102d7610333366004614994565b611067565b61035f7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200161020b565b610256600a81565b6102d761038d36600461443e565b611340565b61035f7f000000000000000000000000000000000000000000000000000000000000000081565b6103cc6103c7366004614a00565b6113dc565b60405161020b9190614a48565b6102566103e7366004614a78565b6114ac565b6102d76103fa36600461443e565b611519565b61028b7f000000000000000000000000000000000000000000000000000000000000000081565b6102d761043436600461443e565b6116b1565b61044c610447366004614a91565b611882565b60405161020b91905f60a082019050825182526020830151602083015260408301516040830152606083015160608301526080830151608083015292915050565b61025661049b36600461443e565b6119b8565b6104a8600381565b60405160ff909116815260200161020b565b6102d76104c8366004614a91565b611a12565b61028b63bbf81e0081565b6104e66001600160601b0381565b6040516001600160601b03909116815260200161020b565b6102b761050c3660046146e4565b611c7e565b6102d761051f36600461443e565b611da4565b6102d761053236600461443e565b611dbe565b6102565f5481565b6102d761054d366004614ab1565b611e26565b610256600281565b604080516102e0810182525f8082526020808301828152838501838152606085018490526080850184905260a0850184905260c0850184905260e08501849052610100850184905261012085018490526101408501849052610160850184905261018085018490526101a085018490526101c085018490526101e08501849052610200850184905261022085018490526102408501849052610260850184905261028085018490526102a085018490526102c0850184905286845260019092529390912080546001600160a01b0380821685526002830154169094529192600160e01b900460ff16600581111561065357610653614455565b9081600581111561066657610666614455565b905250805460ff600160e81b82048116151560608501526080840191600160f01b900416600281111561069b5761069b614455565b908160028111156106ae576106ae614455565b905250805460ff600160f81b9091041660a0830152600181015463ffffffff80821660c085015264010000000082041660e084015264ffffffffff6801000000000000000082048116610100850152600160681b82048116610120850152600160901b82048116610140850152600160b81b90910481166101608401526005820154600160c01b90041661018083015260038101546101a08301525f8154600160e01b900460ff16600581111561076757610767614455565b146107845760028101546020600160e01b90910460ff161b610786565b5f5b67ffffffffffffffff9081166101c08401526002820154600160a01b9004166101e083015260048101546001600160601b038082166102008501526005830154808216610220860152600160601b928390048216610240860152829004811661026085015260068301548082166102808601529190910481166102a0840152600790910154166102c0820152919050565b60608167ffffffffffffffff81111561083257610832614ae4565b60405190808252806020026020018201604052801561085b578160200160208202803683370190505b5090505f8084156108be575f858152600160205260409020546001600160a01b0387811691161461088c575f6108af565b5f85815260016020526040902060040154600160c01b900467ffffffffffffffff165b67ffffffffffffffff166108d7565b6001600160a01b0386165f908152600260205260409020545b90505b80158015906108e857508382105b15610940578083836108f981614b0c565b94508151811061090b5761090b614b24565b6020908102919091018101919091525f918252600190526040902060040154600160c01b900467ffffffffffffffff166108da565b5081529392505050565b610952611edc565b5f83815260016020526040902060028154600160e01b900460ff16600581111561097e5761097e614455565b0361098d5761098d8482611f13565b60028154600160e01b900460ff1660058111156109ac576109ac614455565b141580156109d7575060018154600160e01b900460ff1660058111156109d4576109d4614455565b14155b15610a0e57805460405163800b061560e01b8152610a05918691600160e01b90910460ff1690600401614b38565b60405180910390fd5b80546001600160a01b03163314610a415760405163f8ebe63160e01b815260048101859052336024820152604401610a05565b8054600160e81b900460ff1615610a6e576040516305b91ed360e21b815260048101859052602401610a05565b60018154600160e01b900460ff166005811115610a8d57610a8d614455565b148015610a9e5750610a9e816121c7565b15610abf57604051633801429760e21b815260048101859052602401610a05565b60028154600160e01b900460ff166005811115610ade57610ade614455565b148015610af35750610aef8161221e565b4210155b15610b1457604051638de7457f60e01b815260048101859052602401610a05565b600581015460018201545f9167ffffffffffffffff861691610b4e9164ffffffffff600160c01b909104811691600160681b900416614b4c565b610b589190614b4c565b905067ffffffffffffffff84161580610b74575063bbf81e0081115b15610b9e576040516329ba052960e11b815267ffffffffffffffff85166004820152602401610a05565b600582015460048301545f916001600160601b03600160601b808304821693908104821692610bd1929081169116614b4c565b610bdb9190614b4c565b610be59190614b4c565b9050610bf8816001600160601b03614b5f565b841115610c1b57604051630458ab3760e01b815260048101859052602401610a05565b848360050160188282829054906101000a900464ffffffffff16610c3f9190614b72565b92506101000a81548164ffffffffff021916908364ffffffffff16021790555083836005015f8282829054906101000a90046001600160601b0316610c849190614b8f565b92506101000a8154816001600160601b0302191690836001600160601b03160217905550610cb2868461224b565b6040805167ffffffffffffffff871681526020810186905287917f8a79113520e7671121bca8ee4b3e1b76d0b0e613f4e15e418432f7a33d468966910160405180910390a2610d2c6001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016333087612383565b505050610d376123b9565b505050565b610d44611edc565b5f85815260016020526040812090610d5c87836123e3565b90505f6001600160e01b031982168103610d94576001830154610d8e90600160b81b900464ffffffffff16888861242c565b90925090505b6001600160e01b031982165f03610db557610db28884838888612594565b91505b610dbf8289612725565b505050610dca6123b9565b5050505050565b5f5f610dde836001612857565b80546002820154604080514660208201523091810191909152606081018790526001600160a01b039283166080820152911660a08201529091505f9060c00160408051601f198184030181528282526003850154600286015460208086019290925260ff600160e01b8204169190911b92840192909252600160a01b90910467ffffffffffffffff16606083015291505f9060800160408051601f1981840301815291905290505f808454600160f01b900460ff166002811115610ea457610ea4614455565b14610ebc5760068401546001600160601b0316610ebe565b5f5b6001850154600486015460058701546040805164ffffffffff600160681b909504851660208201526001600160601b039384169181019190915293821660608501819052600160c01b820490931660808501521660a083015291505f9060c0016040516020818303038152906040529050838382604051602001610f4493929190614bc5565b6040516020818303038152906040528051906020012095505050505050919050565b6060610f70611edc565b610f7a83836128c1565b9050610f846123b9565b92915050565b6060610f94611edc565b6040517fd505accf000000000000000000000000000000000000000000000000000000008152336004820152306024820152604481018790526064810186905260ff8516608482015260a4810184905260c481018390527f00000000000000000000000000000000000000000000000000000000000000006001600160a01b03169063d505accf9060e4015f604051808303815f87803b158015611036575f5ffd5b505af1925050508015611047575060015b5061105288886128c1565b905061105c6123b9565b979650505050505050565b61106f611edc565b5f8367ffffffffffffffff81111561108957611089614ae4565b6040519080825280602002602001820160405280156110b2578160200160208202803683370190505b5090505f8467ffffffffffffffff8111156110cf576110cf614ae4565b6040519080825280602002602001820160405280156110f8578160200160208202803683370190505b5090505f5b8381101561132f573685858381811061111857611118614b24565b905060200281019061112a9190614be2565b80355f8181526001602052604081209293509061114790836123e3565b90506001600160e01b03198116158015611165575060208301358911155b156111745750630dce765960e31b5b6001600160e01b031981161580156111c557508160010160179054906101000a900464ffffffffff1664ffffffffff16868460200135815181106111ba576111ba614b24565b602002602001015114155b156112845760018201545f9061121090600160b81b900464ffffffffff168c8c60208801358181106111f9576111f9614b24565b905060200281019061120b9190614c00565b61242c565b90925090506001600160e01b031982165f036112825760018301548751600160b81b90910464ffffffffff169082908990602088013590811061125557611255614b24565b602002602001018887602001358151811061127257611272614b24565b6020908102919091010191909152525b505b6001600160e01b031981165f036112d3576112d0835f013583878660200135815181106112b3576112b3614b24565b60200260200101518680604001906112cb9190614c43565b612594565b90505b6001600160e01b0319811615611324576040516001600160e01b0319821681528335907ff314af878c950c2bc3124bca38aae9ccbabb0c9cfb94f6588c54992734ed1c9e9060200160405180910390a25b5050506001016110fd565b50505061133a6123b9565b50505050565b611348611edc565b5f611354826002612857565b6001810154909150640100000000900463ffffffff166113748383611f13565b600182015463ffffffff80831664010000000090920416036113c5576040517f52bf339100000000000000000000000000000000000000000000000000000000815260048101849052602401610a05565b6113cf8383612a39565b50506113d96123b9565b50565b6113e4614420565b5f84815260016020819052604090912090810154600160b81b900464ffffffffff16158061141a575061141681612c30565b4210155b1561143b5760405163294b968760e01b815260048101869052602401610a05565b60018101545f90819061145d90600160b81b900464ffffffffff16878761242c565b9150915061146b8288612725565b5f5b60058110156114a15761148282898684612cd8565b85826005811061149457611494614b24565b602002015260010161146d565b505050509392505050565b5f6114b5611edc565b5f5f81546114c290614b0c565b918290555090506114d38183612d89565b61150c6001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016333060a0860135612383565b6115146123b9565b919050565b611521611edc565b5f81815260016020526040902060028154600160e01b900460ff16600581111561154d5761154d614455565b0361155c5761155c8282611f13565b60028154600160e01b900460ff16600581111561157b5761157b614455565b141580156115a6575060018154600160e01b900460ff1660058111156115a3576115a3614455565b14155b156115d457805460405163800b061560e01b8152610a05918491600160e01b90910460ff1690600401614b38565b80546001600160a01b031633146116075760405163f8ebe63160e01b815260048101839052336024820152604401610a05565b60018154600160e01b900460ff16600581111561162657611626614455565b0361163b576116358282613330565b506116a9565b8054600160e81b900460ff1615611668576040516305b91ed360e21b815260048101839052602401610a05565b6116718161221e565b421061169357604051638de7457f60e01b815260048101839052602401610a05565b61169d8282613412565b6116a78282612a39565b505b6113d96123b9565b6116b9611edc565b5f8181526001602052604090208054600160e01b900460ff1660028160058111156116e6576116e6614455565b036116f5576116f58383611f13565b60028254600160e01b900460ff16600581111561171457611714614455565b14801561172957506117258261221e565b4210155b1561179157815460ff60e01b19167c03000000000000000000000000000000000000000000000000000000001782556117628383613781565b60405183907fe5e79cf292a362bfd283293dc79aa476061a2b070cafe3fcb6d7f5bc81450052905f90a26113c5565b60028254600160e01b900460ff1660058111156117b0576117b0614455565b10806117d8575060048254600160e01b900460ff1660058111156117d6576117d6614455565b115b1561180657815460405163800b061560e01b8152610a05918591600160e01b90910460ff1690600401614b38565b80600581111561181857611818614455565b8254600160e01b900460ff16600581111561183557611835614455565b148015611848575061184682613823565b155b156113c5576040517f796fa0fd00000000000000000000000000000000000000000000000000000000815260048101849052602401610a05565b6118af6040518060a001604052805f81526020015f81526020015f81526020015f81526020015f81525090565b825b8281116119b1575f818152600160205260409020600581015460048201546118e5916001600160601b039081169116614b4c565b835184906118f4908390614b4c565b9052506004810154602084018051600160601b9092046001600160601b03169161191f908390614b4c565b9052506005810154604084018051600160601b9092046001600160601b03169161194a908390614b4c565b9052506006810154606084018051600160601b9092046001600160601b031691611975908390614b4c565b90525060078101546080840180516001600160601b039092169161199a908390614b4c565b9052508190506119a981614b0c565b9150506118b1565b5092915050565b5f818152600160208190526040822090810154600160901b900464ffffffffff1615611a09576005810154600160c01b900464ffffffffff166119fa8261221e565b611a049190614b4c565b611a0b565b5f5b9392505050565b611a1a611edc565b5f611a26836001612857565b60028101549091506001600160a01b03163314611a5f57604051634203ed2f60e11b815260048101849052336024820152604401610a05565b611a68816121c7565b15611a8957604051633801429760e21b815260048101849052602401610a05565b5f611a9384610dd1565b9050808314611ad8576040517fabe2bd350000000000000000000000000000000000000000000000000000000081526004810185905260248101829052604401610a05565b8154600290839060ff60e01b1916600160e01b830217905550600182810180547fffffffffffffffffff0000000000ffffffffff0000000000ffffffffffffffff16680100000000000000004264ffffffffff169081027fffffffffffffffffff0000000000ffffffffffffffffffffffffffffffffffff1691909117600160901b919091021790555f908354600160f01b900460ff166002811115611b8057611b80614455565b03611bb957506006820180546bffffffffffffffffffffffff60601b1981166001600160601b03909116600160601b8102919091179091555b600583015485907fa6b7418fd416256c96eb97cdd53fdbb40364111d2306edd74393eef94ffb484e90600160c01b900464ffffffffff16611bf98661221e565b611c039190614b4c565b604080519182526001600160601b03851660208301520160405180910390a26001600160601b03811615611c6f57611c6f6001600160a01b037f00000000000000000000000000000000000000000000000000000000000000001633306001600160601b038516612383565b505050611c7a6123b9565b5050565b60608167ffffffffffffffff811115611c9957611c99614ae4565b604051908082528060200260200182016040528015611cc2578160200160208202803683370190505b5090505f808415611d25575f858152600160205260409020600201546001600160a01b03878116911614611cf6575f611d16565b5f85815260016020526040902054600160a01b900467ffffffffffffffff165b67ffffffffffffffff16611d3e565b6001600160a01b0386165f908152600360205260409020545b90505b8015801590611d4f57508382105b1561094057808383611d6081614b0c565b945081518110611d7257611d72614b24565b6020908102919091018101919091525f918252600190526040902054600160a01b900467ffffffffffffffff16611d41565b611dac611edc565b6116a9611db8826138e8565b82612725565b611dc6611edc565b5f611dd2826001612857565b80549091506001600160a01b03163314801590611df55750611df3816121c7565b155b15611e1c5760405163f8ebe63160e01b815260048101839052336024820152604401610a05565b6116a78282613330565b611e2e611edc565b5f5b81811015611ecf575f611e5a848484818110611e4e57611e4e614b24565b905060200201356138e8565b90506001600160e01b0319811615611ec657838383818110611e7e57611e7e614b24565b6040516001600160e01b03198516815260209182029390930135927ff314af878c950c2bc3124bca38aae9ccbabb0c9cfb94f6588c54992734ed1c9e92500160405180910390a25b50600101611e30565b50611c7a6123b9565b9052565b611ee46139fd565b611f1160017f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005b90613a56565b565b611f1c8161221e565b6001820154600160901b900464ffffffffff16108015611f445750611f4081612c30565b4210155b15611c7a576001808201805463ffffffff640100000000820481169392915f91611f7091859116614c89565b92506101000a81548163ffffffff021916908363ffffffff1602179055506001825f01601f8282829054906101000a900460ff16611fae9190614ca5565b825460ff9182166101009390930a9283029282021916919091179091558354600160f81b9004166003149050801561200b57825460ff60e01b19167c04000000000000000000000000000000000000000000000000000000001783555b5f612016845f613a5d565b90505f6120238686613b8b565b90508085600501600c8282829054906101000a90046001600160601b031661204b9190614b8f565b92506101000a8154816001600160601b0302191690836001600160601b03160217905550857f32b25c85cc53d66ab8372b88f171040aa3b4dc264cc0a72be4b44aafe4f455788583856040516120c59392919063ffffffff9390931683526001600160601b03918216602084015216604082015260600190565b60405180910390a2826120db5750505050611f13565b600585015460048601545f916120fd916001600160601b039182169116614b8f565b90508086600501600c8282829054906101000a90046001600160601b03166121259190614b8f565b82546001600160601b039182166101009390930a9283029190920219909116179055506004860180546bffffffffffffffffffffffff199081169091556005870180549091169055867f431517a14b4392bde9a36b69522793151c5e981fe0c0f0c3b2a4808d290d9b808261219b896001613a5d565b604080516001600160601b0393841681529290911660208301520160405180910390a250505050505050565b60018101545f90612216907f000000000000000000000000000000000000000000000000000000000000000067ffffffffffffffff169068010000000000000000900464ffffffffff16614b4c565b421192915050565b60018101545f90610f849064ffffffffff600160681b820481169168010000000000000000900416614b4c565b6122548161221e565b6001820154600160901b900464ffffffffff161080612290575060028154600160e01b900460ff16600581111561228d5761228d614455565b14155b806122ab57506005810154600160c01b900464ffffffffff16155b156122b4575050565b600581015460018201805464ffffffffff600160c01b909304831692600d916122e6918591600160681b900416614b72565b825464ffffffffff9182166101009390930a92830291909202199091161790555060058101546004820180546001600160601b03928316925f9161232c91859116614b8f565b82546001600160601b039182166101009390930a9283029190920219909116179055506005810180547fffffff0000000000ffffffffffffffffffffffff000000000000000000000000169055611c7a8282613781565b612391848484846001613cd4565b61133a57604051635274afe760e01b81526001600160a01b0385166004820152602401610a05565b611f115f7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f00611f0b565b5f6123ee8383613d5a565b90506001600160e01b0319811615801561241857506001820154600160b81b900464ffffffffff16155b15610f84575063294b968760e01b92915050565b5f5f84431161245f57507f58744f490000000000000000000000000000000000000000000000000000000090505f61258c565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316156124b85761249886613e49565b92509050806124ae57639904140d60e01b6124b0565b5f5b92505061258c565b5f6124c287613e7e565b90505f8190036124fa57507fd58353a80000000000000000000000000000000000000000000000000000000092505f915061258c9050565b80868660405161250b929190614cbe565b60405180910390201461252d5750630dce765960e31b92505f915061258c9050565b6125378686613f5f565b93509150816125555750630dce765960e31b92505f915061258c9050565b61257083700100000000000000000000000000000000111590565b6125895750639904140d60e01b92505f915061258c9050565b50505b935093915050565b60028401545f90600160e01b900460ff166125b0816001614b4c565b6125bb906005614ccd565b83146125d15750635e3fa05160e01b905061271c565b60038601545f5b6005811015612633575f6125ee888b8b85612cd8565b90506126128787612600876001614b4c565b61260a9086614ccd565b87858861412d565b61262a5750635e3fa05160e01b935061271c92505050565b506001016125d8565b5086547effffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1687556001870154640100000000900463ffffffff165f6126778a8a613b8b565b90508089600401600c8282829054906101000a90046001600160601b031661269f9190614b8f565b92506101000a8154816001600160601b0302191690836001600160601b03160217905550897f4eea1dd8fcb57e83e2ac5dc82215c608ee83fad5c89ee471e52b7580d35cfc76838360405161270f92919063ffffffff9290921682526001600160601b0316602082015260400190565b60405180910390a2505050505b95945050505050565b6001600160e01b031982165f0361273a575050565b7f7ff4f9eb000000000000000000000000000000000000000000000000000000006001600160e01b03198316016127a1575f818152600160205260409081902054905163800b061560e01b8152610a05918391600160e01b90910460ff1690600401614b38565b7f7bf825a2000000000000000000000000000000000000000000000000000000006001600160e01b03198316016127f457604051634203ed2f60e11b815260048101829052336024820152604401610a05565b5f828260405160240161280991815260200190565b60408051601f198184030181529190526020810180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff166001600160e01b0319909316929092178252805190925090fd5b5f82815260016020526040902081600581111561287657612876614455565b8154600160e01b900460ff16600581111561289357612893614455565b14610f8457805460405163800b061560e01b8152610a05918591600160e01b90910460ff1690600401614b38565b60605f8290036128fd576040517fb9a23e0300000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b8167ffffffffffffffff81111561291657612916614ae4565b60405190808252806020026020018201604052801561293f578160200160208202803683370190505b505f5490915061294f8382614b4c565b5f908155805b848110156129fb576129678184614b4c565b612972906001614b4c565b84828151811061298457612984614b24565b6020026020010181815250506129ca8482815181106129a5576129a5614b24565b60200260200101518787848181106129bf576129bf614b24565b905060e00201612d89565b8585828181106129dc576129dc614b24565b905060e0020160a00135826129f19190614b4c565b9150600101612955565b50612a316001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016333084612383565b505092915050565b6004810180546005830180546bffffffffffffffffffffffff60601b1980841690945592831690556001600160601b03600160601b918290048116925f9290041681808554600160f01b900460ff166002811115612a9957612a99614455565b14612b1457506007840180546bffffffffffffffffffffffff1981169091556001600160601b031660028554600160f01b900460ff166002811115612ae057612ae0614455565b03612b14576006850180546bffffffffffffffffffffffff60601b198116909155600160601b90046001600160601b031692505b6002850154612b3b9087906001600160a01b03166001600160601b03808816908716614196565b612ba4576004850180546001600160601b03808716600160601b026bffffffffffffffffffffffff60601b1990921691909117909155831615612ba4576006850180546bffffffffffffffffffffffff60601b1916600160601b6001600160601b038616021790555b8454612bc89087906001600160a01b03166001600160601b03808616908516614196565b612c28576005850180546001600160601b03808516600160601b026bffffffffffffffffffffffff60601b1990921691909117909155811615612c28576007850180546bffffffffffffffffffffffff19166001600160601b0383161790555b505050505050565b60018101545f90600160901b900464ffffffffff1681612c4f8461221e565b9050612c8667ffffffffffffffff7f0000000000000000000000000000000000000000000000000000000000000000166002614ccd565b612c908383614b5f565b10612cce57612cc967ffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001683614b4c565b612cd0565b805b949350505050565b60028201546001830154604080516020810188905290810186905264010000000090910460c090811b7bffffffff0000000000000000000000000000000000000000000000001660608301527fffffffffffffffff0000000000000000000000000000000000000000000000009084901b1660688201525f9167ffffffffffffffff600160a01b9091041690607001604051602081830303815290604052805190602001205f1c61271c9190614cf8565b5f80612d9b6060840160408501614d0b565b612dab60a0850160808601614d0b565b90925090505f612dbe6020850185614d24565b6001600160a01b031603612dfe576040517fd92e233d00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b608067ffffffffffffffff83161080612e2d5750612e1d600183614d3d565b821667ffffffffffffffff165f14155b15612e70576040517f045162f100000000000000000000000000000000000000000000000000000000815267ffffffffffffffff83166004820152602401610a05565b612e806080840160608501614d0b565b67ffffffffffffffff161580612ec25750612e9c602083614d5d565b67ffffffffffffffff16612eb66080850160608601614d0b565b67ffffffffffffffff16115b15612f1657612ed76080840160608501614d0b565b6040517f0fa7197e00000000000000000000000000000000000000000000000000000000815267ffffffffffffffff9091166004820152602401610a05565b7f000000000000000000000000000000000000000000000000000000000000000067ffffffffffffffff168167ffffffffffffffff161080612f65575063bbf81e0067ffffffffffffffff8216115b15612f8f576040516329ba052960e11b815267ffffffffffffffff82166004820152602401610a05565b6001600160601b0360a08401351115612fc157604051630458ab3760e01b815260a08401356004820152602401610a05565b6001600160601b0360c08401351115612ff357604051630458ab3760e01b815260c08401356004820152602401610a05565b5f8481526001602090815260408220805473ffffffffffffffffffffffffffffffffffffffff1916331781559160039161302f90870187614d24565b6001600160a01b031681526020808201929092526040015f2054825467ffffffffffffffff909116600160a01b0260ff60e01b19167fffffff000000000000000000ffffffffffffffffffffffffffffffffffffffff90911617600160e01b17825560018201805464ffffffffff858116600160681b0271ffffffffff000000000000000000000000001942929092166801000000000000000002919091167fffffffffffffffffffffffffffff00000000000000000000ffffffffffffffff9092169190911717905561310590850185614d24565b60028201805473ffffffffffffffffffffffffffffffffffffffff19166001600160a01b03929092169190911790556131446080850160608601614d0b565b8160020160146101000a81548167ffffffffffffffff021916908367ffffffffffffffff16021790555061317783614244565b6002808301805460ff93909316600160e01b0260ff60e01b199093169290921790915560208086013560038401556004830180546001600160601b0360a0890135166bffffffffffffffffffffffff19821681178355335f9081529490935260409093205467ffffffffffffffff16600160c01b0277ffffffffffffffffffffffff00000000000000000000000090931690911791909117905560c08401351561325357805460ff60f01b1916600160f01b1781556006810180546bffffffffffffffffffffffff191660c08601356001600160601b03161790555b335f9081526002602090815260408220879055869160039161327790880188614d24565b6001600160a01b031681526020808201929092526040015f20919091556132a090850185614d24565b6001600160a01b031633867f1d131108803bc95da6148cf92b43e68ce38dd4a6c394094a7f1659d0e0d3d14d6020880135876132e260808b0160608c01614d0b565b6040805193845267ffffffffffffffff9283166020850152908216908301528716606082015260a0808a0135608083015260c0808b0135918301919091520160405180910390a45050505050565b600581015460048201545f91613352916001600160601b039182169116614b4c565b825460ff60e01b19167c05000000000000000000000000000000000000000000000000000000001783556004830180546bffffffffffffffffffffffff19908116909155600584018054909116905560408051828152905191925084917fd3a36ada0da11577ee7c22b041e919c2cac9efccaee075523a97ba22b824169c9181900360200190a28154610d37906001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000811691168361428c565b6001810154600160901b900464ffffffffff165f61342f8361221e565b90505f7f000000000000000000000000000000000000000000000000000000000000000067ffffffffffffffff168342106134725761346d85612c30565b613474565b835b61347e9190614b4c565b90505f828210156135ab575f6134948585614b5f565b61349e8486614b5f565b60048801546134b691906001600160601b0316614ccd565b6134c09190614d8c565b60058701549091506134db906001600160601b031682614b8f565b60048701805491935082915f906134fc9084906001600160601b0316614d9f565b92506101000a8154816001600160601b0302191690836001600160601b031602179055508560010160089054906101000a900464ffffffffff1664ffffffffff16836135489190614b5f565b60018701805464ffffffffff92909216600160681b0271ffffffffff0000000000000000000000000019909216919091179055506005850180547fffffff0000000000ffffffffffffffffffffffff000000000000000000000000169055613690565b60058501546135c890600160c01b900464ffffffffff1684614b4c565b821015613690575f6135da8484614b5f565b60058701549091505f9064ffffffffff600160c01b820416906136079084906001600160601b0316614ccd565b6136119190614d8c565b600588015490915061362d9082906001600160601b0316614d9f565b6005880180546001600160601b039093166bffffffffffffffffffffffff1964ffffffffff909516600160c01b02949094167fffffff0000000000ffffffffffffffffffffffff0000000000000000000000009093169290921792909217905590505b84547fffff00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffff16600160e81b178555600585018054829190600c906136e49084906001600160601b03600160601b90910416614b8f565b92506101000a8154816001600160601b0302191690836001600160601b03160217905550857fec68b4554e29157dd444c7832617708a2c4fe34bdc76c7dbbfffbf308380d94a8660050160189054906101000a900464ffffffffff1664ffffffffff166137508861221e565b61375a9190614b4c565b604080519182526001600160601b03851660208301520160405180910390a2505050505050565b60018154600160f01b900460ff1660028111156137a0576137a0614455565b146137a9575050565b805460ff60f01b19167e02000000000000000000000000000000000000000000000000000000000000178155600681015460408051600160601b9092046001600160601b031682525183917fa82cc801d3441a544199a29213af59c68395a29ea31e3130a7badf410f166b67919081900360200190a25050565b60048101545f90600160601b90046001600160601b031615158061385a57506005820154600160601b90046001600160601b031615155b1561386757506001919050565b5f8254600160f01b900460ff16600281111561388557613885614455565b0361389157505f919050565b60078201546001600160601b0316151580610f84575060028254600160f01b900460ff1660028111156138c6576138c6614455565b148015610f8457505060060154600160601b90046001600160601b0316151590565b5f8181526001602052604081206138ff8382613d5a565b91506001600160e01b03198216156139175750919050565b6001810154600160b81b900464ffffffffff161561395757507f1ea629850000000000000000000000000000000000000000000000000000000092915050565b5f61398661ffff7f00000000000000000000000000000000000000000000000000000000000000001643614b4c565b60018301805464ffffffffff60b81b1916600160b81b64ffffffffff84160217908190556040805164010000000090920463ffffffff1682526020820183905291925085917fdbceece8cd0920419e2d8275b9b8d6b89f82c99804e8e763fd62aa7689b3ede2910160405180910390a25050919050565b7f9b779b17422d0df92223018b32b4d1fa46e071723d6817e2486d003becc55f005c15611f11576040517f3ee5aeb500000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b80825d5050565b5f60018354600160f01b900460ff166002811115613a7d57613a7d614455565b14613a8957505f610f84565b506006820154600160601b90046001600160601b031681613af25760068301545f90600a90600190613ac59083906001600160601b0316614b4c565b613acf9190614b5f565b613ad99190614d8c565b9050816001600160601b0316811015613af0578091505b505b8083600601600c8282829054906101000a90046001600160601b0316613b189190614d9f565b92506101000a8154816001600160601b0302191690836001600160601b0316021790555080836007015f8282829054906101000a90046001600160601b0316613b619190614b8f565b92506101000a8154816001600160601b0302191690836001600160601b0316021790555092915050565b5f5f613b9683612c30565b60018401549091505f90600160901b900464ffffffffff16613bb78561221e565b613bc19190614b5f565b60018501549091508190613be390600160901b900464ffffffffff1684614b5f565b6004860154613bfb91906001600160601b0316614ccd565b613c059190614d8c565b60048501805491945084915f90613c269084906001600160601b0316614d9f565b82546101009290920a6001600160601b0381810219909316919092169190910217905550600184810180547fffffffff00000000000000000000ffffffffffffffffffffffffffffffffffff16600160901b64ffffffffff86160264ffffffffff60b81b191617808255600490613cac908490640100000000900463ffffffff16614c89565b92506101000a81548163ffffffff021916908363ffffffff160217905550612a31858561224b565b6040517f23b872dd000000000000000000000000000000000000000000000000000000005f8181526001600160a01b038781166004528616602452604485905291602083606481808c5af1925060015f51148316613d49578383151615613d3d573d5f823e3d81fd5b5f883b113d1516831692505b604052505f60605295945050505050565b5f60028254600160e01b900460ff166005811115613d7a57613d7a614455565b14613d8d575063800b061560e01b610f84565b60028201546001600160a01b03163314613daf5750634203ed2f60e11b610f84565b613db98383611f13565b60028254600160e01b900460ff166005811115613dd857613dd8614455565b14613deb575063800b061560e01b610f84565b613df48261221e565b4210613e085750638de7457f60e01b610f84565b6001820154600160901b900464ffffffffff16421015610f8457507f397a427100000000000000000000000000000000000000000000000000000000610f84565b5f5f613e757f0000000000000000000000000000000000000000000000000000000000000000846142c1565b91509150915091565b5f814311613e8d57505f919050565b610100613e9a8343614b5f565b11613ea457504090565b5f5f71f90827f1c53a10cb7a02335b1753200029356001600160a01b031684604051602001613ed591815260200190565b60408051601f1981840301815290829052613eef91614dbe565b5f60405180830381855afa9150503d805f8114613f27576040519150601f19603f3d011682016040523d82523d5f602084013e613f2c565b606091505b5091509150818015613f3f575080516020145b15613f585780806020019051810190612cd09190614dc9565b5050919050565b5f8060f9843560f81c141580613f865750613f82600185013560f01c6003614b4c565b8314155b15613f9557505f905080614126565b60a0600385013560f81c141580613fb4575060a0602485013560f81c14155b15613fc357505f905080614126565b6094604585013560f81c141580613fe2575060a0605a85013560f81c14155b15613ff157505f905080614126565b60a0607b85013560f81c141580614010575060a0609c85013560f81c14155b1561401f57505f905080614126565b60bd84013560e81c62b901001461403a57505f905080614126565b6101c05f5b60068110156140a2578582013560f81c60b781111561406757505f9350839250614126915050565b6080811061408a5761407a608082614b5f565b614085906001614b4c565b61408d565b60015b6140979084614b4c565b92505060010161403f565b5060a08186013560f81c1415806140d6575060886140d386866140c6856021614b4c565b919091013560f81c919050565b14155b156140e757505f9150819050614126565b6140f281602a614b4c565b84101561410557505f9150819050614126565b600161412086866141168585614b4c565b9190910135919050565b92509250505b9250929050565b5f828560051b880180358660051b8201600194505b80831015614183576020830192506001841660051b828152833560208218525060205f60405f60025afa5f5195169460019490941c9360c019169150614142565b5090931491909116979650505050505050565b5f6141a18284614b4c565b5f036141af57506001612cd0565b6141ee846141bd8486614b4c565b6001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016919061439c565b90508015612cd05760408051848152602081018490526001600160a01b0386169187917f59e5c638e8e7ab669e805847b18203cf00e4ab4d0688c3da8e486aba4cc4fed2910160405180910390a3949350505050565b5f80614251602084614d5d565b90505b60018167ffffffffffffffff16111561428657614272600183614ca5565b915060011c677fffffffffffffff16614254565b50919050565b61429983838360016143a5565b610d3757604051635274afe760e01b81526001600160a01b0384166004820152602401610a05565b5f5f5f5f856001600160a01b0316856040516020016142e291815260200190565b60408051601f19818403018152908290526142fc91614dbe565b5f60405180830381855afa9150503d805f8114614334576040519150601f19603f3d011682016040523d82523d5f602084013e614339565b606091505b509150915081158061434d57508051602014155b1561436057505f92508291506141269050565b808060200190518101906143749190614dc9565b925061439183700100000000000000000000000000000000111590565b935050509250929050565b5f612cd08484845f5b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f8181526001600160a01b038616600452602485905291602083604481808b5af1925060015f51148316614414578383151615614408573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b6040518060a001604052806005906020820280368337509192915050565b5f6020828403121561444e575f5ffd5b5035919050565b634e487b7160e01b5f52602160045260245ffd5b60068110611ed857611ed8614455565b60038110611ed857611ed8614455565b81516001600160a01b031681526102e0810160208301516144b560208401826001600160a01b03169052565b5060408301516144c86040840182614469565b5060608301516144dc606084018215159052565b5060808301516144ef6080840182614479565b5060a083015161450460a084018260ff169052565b5060c083015161451c60c084018263ffffffff169052565b5060e083015161453460e084018263ffffffff169052565b5061010083015161454f61010084018264ffffffffff169052565b5061012083015161456a61012084018264ffffffffff169052565b5061014083015161458561014084018264ffffffffff169052565b506101608301516145a061016084018264ffffffffff169052565b506101808301516145bb61018084018264ffffffffff169052565b506101a08301516101a08301526101c08301516145e56101c084018267ffffffffffffffff169052565b506101e08301516146036101e084018267ffffffffffffffff169052565b506102008301516146206102008401826001600160601b03169052565b5061022083015161463d6102208401826001600160601b03169052565b5061024083015161465a6102408401826001600160601b03169052565b506102608301516146776102608401826001600160601b03169052565b506102808301516146946102808401826001600160601b03169052565b506102a08301516146b16102a08401826001600160601b03169052565b506102c08301516119b16102c08401826001600160601b03169052565b80356001600160a01b0381168114611514575f5ffd5b5f5f5f606084860312156146f6575f5ffd5b6146ff846146ce565b95602085013595506040909401359392505050565b602080825282518282018190525f918401906040840190835b8181101561474b57835183526020938401939092019160010161472d565b509095945050505050565b803567ffffffffffffffff81168114611514575f5ffd5b5f5f5f6060848603121561477f575f5ffd5b8335925061478f60208501614756565b929592945050506040919091013590565b5f5f83601f8401126147b0575f5ffd5b50813567ffffffffffffffff8111156147c7575f5ffd5b602083019150836020828501011115614126575f5ffd5b5f5f83601f8401126147ee575f5ffd5b50813567ffffffffffffffff811115614805575f5ffd5b6020830191508360208260051b8501011115614126575f5ffd5b5f5f5f5f5f60608688031215614833575f5ffd5b85359450602086013567ffffffffffffffff811115614850575f5ffd5b61485c888289016147a0565b909550935050604086013567ffffffffffffffff81111561487b575f5ffd5b614887888289016147de565b969995985093965092949392505050565b5f5f83601f8401126148a8575f5ffd5b50813567ffffffffffffffff8111156148bf575f5ffd5b60208301915083602060e083028501011115614126575f5ffd5b5f5f602083850312156148ea575f5ffd5b823567ffffffffffffffff811115614900575f5ffd5b61490c85828601614898565b90969095509350505050565b5f5f5f5f5f5f5f60c0888a03121561492e575f5ffd5b873567ffffffffffffffff811115614944575f5ffd5b6149508a828b01614898565b9098509650506020880135945060408801359350606088013560ff81168114614977575f5ffd5b969995985093969295946080840135945060a09093013592915050565b5f5f5f5f604085870312156149a7575f5ffd5b843567ffffffffffffffff8111156149bd575f5ffd5b6149c9878288016147de565b909550935050602085013567ffffffffffffffff8111156149e8575f5ffd5b6149f4878288016147de565b95989497509550505050565b5f5f5f60408486031215614a12575f5ffd5b83359250602084013567ffffffffffffffff811115614a2f575f5ffd5b614a3b868287016147a0565b9497909650939450505050565b60a0810181835f5b6005811015614a6f578151835260209283019290910190600101614a50565b50505092915050565b5f60e0828403128015614a89575f5ffd5b509092915050565b5f5f60408385031215614aa2575f5ffd5b50508035926020909101359150565b5f5f60208385031215614ac2575f5ffd5b823567ffffffffffffffff811115614ad8575f5ffd5b61490c858286016147de565b634e487b7160e01b5f52604160045260245ffd5b634e487b7160e01b5f52601160045260245ffd5b5f60018201614b1d57614b1d614af8565b5060010190565b634e487b7160e01b5f52603260045260245ffd5b82815260408101611a0b6020830184614469565b80820180821115610f8457610f84614af8565b81810381811115610f8457610f84614af8565b64ffffffffff8181168382160190811115610f8457610f84614af8565b6001600160601b038181168382160190811115610f8457610f84614af8565b5f81518060208401855e5f93019283525090919050565b5f61271c614bdc614bd68488614bae565b86614bae565b84614bae565b5f8235605e19833603018112614bf6575f5ffd5b9190910192915050565b5f5f8335601e19843603018112614c15575f5ffd5b83018035915067ffffffffffffffff821115614c2f575f5ffd5b602001915036819003821315614126575f5ffd5b5f5f8335601e19843603018112614c58575f5ffd5b83018035915067ffffffffffffffff821115614c72575f5ffd5b6020019150600581901b3603821315614126575f5ffd5b63ffffffff8181168382160190811115610f8457610f84614af8565b60ff8181168382160190811115610f8457610f84614af8565b818382375f9101908152919050565b8082028115828204841417610f8457610f84614af8565b634e487b7160e01b5f52601260045260245ffd5b5f82614d0657614d06614ce4565b500690565b5f60208284031215614d1b575f5ffd5b611a0b82614756565b5f60208284031215614d34575f5ffd5b611a0b826146ce565b67ffffffffffffffff8281168282160390811115610f8457610f84614af8565b5f67ffffffffffffffff831680614d7657614d76614ce4565b8067ffffffffffffffff84160491505092915050565b5f82614d9a57614d9a614ce4565b500490565b6001600160601b038281168282160390811115610f8457610f84614af8565b5f611a0b8284614bae565b5f60208284031215614dd9575f5ffd5b505191905056'
