/**
 * A token that freezes accounts and pauses, as USDC does; that calls back on every transfer, as USDC never would; and that answers false
 * and does not revert, as some do.
 */
export const HOSTILE_TOKEN = `
// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

contract HostileToken is ERC20("Hostile", "HOSTILE"), ERC20Permit("Hostile") {
    mapping(address => bool) public isFrozen;
    bool private isPaused;
    bool private isQuiet;
    address private target;
    bytes private data;
    uint256 public calls;
    uint256 public callsThatWorked;

    function mint(address to, uint256 amount) external { _mint(to, amount); }
    function freeze(address account, bool isNow) external { isFrozen[account] = isNow; }
    function pause(bool isNow) external { isPaused = isNow; }
    function fail(bool isQuiet_) external { isQuiet = isQuiet_; }
    function callBack(address target_, bytes calldata data_) external { target = target_; data = data_; }

    function transfer(address to, uint256 value) public override returns (bool) {
        if (isQuiet && isRefused(msg.sender, to)) return false;
        return super.transfer(to, value);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (isQuiet && isRefused(from, to)) return false;
        return super.transferFrom(from, to, value);
    }

    function isRefused(address from, address to) private view returns (bool) {
        return isPaused || isFrozen[from] || isFrozen[to];
    }

    function _update(address from, address to, uint256 value) internal override {
        require(!isRefused(from, to), "refused");
        super._update(from, to, value);
        if (target == address(0)) return;
        calls++;
        (bool worked,) = target.call(data);
        if (worked) callsThatWorked++;
    }
}
`
