// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {BlockHeader} from "./BlockHeader.sol";
import {DealViews} from "./DealViews.sol";
import {PieceTree} from "./PieceTree.sol";

/// @title How the challenge of a period is opened, its leaves are drawn, and a proof is checked.
/// @dev A refusal is the selector of its error, so that a batch goes on where a call for one deal reverts.
abstract contract DealChallenges is DealViews {
    /// @notice The leaves that the proof of the current period must be about, in their order. Two of them may be the same.
    ///
    /// Leaf i is keccak256(seed ‖ uint256(dealId) ‖ uint64(period) ‖ uint64(i)) modulo `leafCount`, as PDPVerifier draws it.
    /// @param header As in `prove`.
    function challengedLeaves(uint256 dealId, bytes calldata header)
        external
        view
        returns (uint256[CHALLENGED_LEAVES] memory leaves)
    {
        DealRecord storage deal = _deals[dealId];
        if (deal.seedBlock == 0 || block.timestamp >= _endOfPeriod(deal)) revert ChallengeNotOpen(dealId);
        (bytes4 reason, bytes32 seed) = _seedOf(deal.seedBlock, header);
        _revertFor(reason, dealId);
        for (uint256 i = 0; i < CHALLENGED_LEAVES; i++) leaves[i] = _leafOf(seed, dealId, deal, i);
    }

    /// @return reason Of a refusal, as the selector of its error; 0 if the challenge is open.
    function _open(uint256 dealId) internal returns (bytes4 reason) {
        DealRecord storage deal = _deals[dealId];
        reason = _provable(dealId, deal);
        if (reason != 0) return reason;
        if (deal.seedBlock != 0) return ChallengeAlreadyOpen.selector;
        uint256 seedBlock = block.number + seedDelay;
        deal.seedBlock = uint40(seedBlock);
        emit ChallengeOpened(dealId, deal.period, seedBlock);
    }

    /// @dev Accounts for all that is past, and says whether its prover calls and the current period waits for a proof.
    function _provable(uint256 dealId, DealRecord storage deal) internal returns (bytes4 reason) {
        if (deal.state != State.Active) return WrongState.selector;
        if (msg.sender != deal.prover) return NotProver.selector;
        _accountForMissed(dealId, deal);
        if (deal.state != State.Active) return WrongState.selector;
        if (block.timestamp >= _endOfTerm(deal)) return DealOver.selector;
        if (block.timestamp < deal.accountedUntil) return AlreadyProven.selector;
    }

    /// @dev As `_provable`, with the challenge open: every proof begins here, since a `seedBlock` of 0 is the seed of nothing.
    function _challenged(uint256 dealId, DealRecord storage deal) internal returns (bytes4 reason) {
        reason = _provable(dealId, deal);
        if (reason == 0 && deal.seedBlock == 0) reason = ChallengeNotOpen.selector;
    }

    /// @dev The randomness that draws the leaves, once nobody can change it any more.
    function _seedOf(uint256 seedBlock, bytes calldata header) internal view returns (bytes4 reason, bytes32 seed) {
        if (block.number <= seedBlock) return (ChallengeNotDrawn.selector, 0);
        bool isRead;
        if (beacon != address(0)) {
            (isRead, seed) = _askBeacon(seedBlock);
            return (isRead ? bytes4(0) : NoSeed.selector, seed);
        }
        bytes32 hash = BlockHeader.hashOf(seedBlock);
        if (hash == 0) return (ChallengeLapsed.selector, 0);
        if (keccak256(header) != hash) return (InvalidHeader.selector, 0);
        (isRead, seed) = BlockHeader.mixHashOf(header);
        if (!isRead) return (InvalidHeader.selector, 0);
        if (!_isRandom(seed)) return (NoSeed.selector, 0);
    }

    function _prove(uint256 dealId, DealRecord storage deal, bytes32 seed, bytes32[] calldata nodes)
        internal
        returns (bytes4 reason)
    {
        uint256 height = deal.height;
        if (nodes.length != CHALLENGED_LEAVES * (height + 1)) return InvalidProof.selector;
        bytes32 root = deal.commp;
        for (uint256 i = 0; i < CHALLENGED_LEAVES; i++) {
            uint256 leaf = _leafOf(seed, dealId, deal, i);
            if (!PieceTree.leadsToRoot(nodes, i * (height + 1), height, leaf, root)) return InvalidProof.selector;
        }
        deal.missesInARow = 0;
        uint32 period = deal.period;
        uint96 pay = _account(dealId, deal);
        deal.earned += pay;
        emit PeriodProven(dealId, period, pay);
    }

    function _leafOf(bytes32 seed, uint256 dealId, DealRecord storage deal, uint256 index) internal view returns (uint256) {
        return uint256(keccak256(abi.encodePacked(seed, dealId, uint64(deal.period), uint64(index)))) % deal.leafCount;
    }

    /// @dev Reverts with the error of a reason, unless there is none.
    function _revertFor(bytes4 reason, uint256 dealId) internal view {
        if (reason == 0) return;
        if (reason == WrongState.selector) revert WrongState(dealId, _deals[dealId].state);
        if (reason == NotProver.selector) revert NotProver(dealId, msg.sender);
        // All others have the number of the deal as their only argument.
        bytes memory data = abi.encodeWithSelector(reason, dealId);
        assembly ("memory-safe") {
            revert(add(data, 32), mload(data))
        }
    }
}
