import { compileSources } from '@lade/contracts/compile'
import type { Abi, Hex } from 'viem'

const WALLET = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

/// A wallet whose owner signs for it; 65 bytes of zero set it on fire.
contract TestWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        require(signature.length == 65, "length");
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        if (r == 0) while (true) {}
        bool isValid = ecrecover(hash, uint8(signature[64]), r, s) == owner;
        return isValid ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
`

const FACTORY = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {TestWallet} from "TestWallet.sol";

contract TestWalletFactory {
    function deploy(address owner, bytes32 salt) external returns (address) {
        return address(new TestWallet{salt: salt}(owner));
    }
}
`

/** Contracts that take every signature with the wrong word, ask to look elsewhere (ERC-3668), or compute until their gas is used up. */
const ODD_WALLETS = {
  'LoopingWallet.sol': `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
contract LoopingWallet {
    function isValidSignature(bytes32 hash, bytes calldata) external pure returns (bytes4) {
        while (true) ecrecover(hash, 27, bytes32(uint256(1)), bytes32(uint256(1)));
        return 0x1626ba7e;
    }
}
`,
  'WrongWordWallet.sol': `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
contract WrongWordWallet {
    fallback(bytes calldata) external returns (bytes memory) { return abi.encode(true); }
}
`,
  'LookElsewhereWallet.sol': `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
contract LookElsewhereWallet {
    string private url;
    constructor(string memory url_) { url = url_; }
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", this.found.selector, "");
    }
    function found(bytes calldata, bytes calldata) external pure returns (bytes4) { return 0x1626ba7e; }
}
`,
}

export interface CompiledWallet {
  readonly abi: Abi
  readonly bytecode: Hex
}

export interface WalletContracts {
  readonly wallet: CompiledWallet
  readonly factory: CompiledWallet
  readonly wrongWord: CompiledWallet
  readonly lookElsewhere: CompiledWallet
  readonly looping: CompiledWallet
}

export function compileWallet(): WalletContracts {
  const compiled = compileSources({
    'TestWallet.sol': WALLET,
    'TestWalletFactory.sol': FACTORY,
    ...ODD_WALLETS,
  })
  const named = (name: string): CompiledWallet => {
    const found = compiled.find((contract) => contract.name === name)
    if (found === undefined) throw new Error(`${name} was not compiled`)
    return { abi: found.abi as Abi, bytecode: found.bytecode as Hex }
  }
  return {
    wallet: named('TestWallet'),
    factory: named('TestWalletFactory'),
    wrongWord: named('WrongWordWallet'),
    lookElsewhere: named('LookElsewhereWallet'),
    looping: named('LoopingWallet'),
  }
}
