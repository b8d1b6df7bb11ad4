// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title A token that stands in for USDC on chains for tests.
/// @notice Six decimals and ERC-2612 permits, as the real one has; anybody mints as much as they like.
contract TestUsdc is ERC20, ERC20Permit {
    constructor() ERC20("USD Coin", "USDC") ERC20Permit("USD Coin") {}

    /// @notice Makes `amount` units of 10^-6 USDC out of nothing.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }
}
