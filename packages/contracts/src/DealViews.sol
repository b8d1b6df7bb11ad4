// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {DealBook} from "./DealBook.sol";

/// @title What can be read of the deals: one by its number, those of a client or prover, and what they hold together.
abstract contract DealViews is DealBook {
    /// @notice The deal of a number; its state is `None` if there is none. Periods that have passed since the last
    /// call about it are not accounted for.
    function deals(uint256 dealId) external view returns (Deal memory deal) {
        DealRecord storage stored = _deals[dealId];
        deal.client = stored.client;
        deal.prover = stored.prover;
        deal.state = stored.state;
        deal.isEnding = stored.isEnding;
        deal.bondState = stored.bondState;
        deal.missesInARow = stored.missesInARow;
        deal.misses = stored.misses;
        deal.period = stored.period;
        deal.since = stored.since;
        deal.duration = stored.duration;
        deal.accountedUntil = stored.accountedUntil;
        deal.seedBlock = stored.seedBlock;
        deal.extraDuration = stored.extraDuration;
        deal.commp = stored.commp;
        deal.pieceSize = stored.state == State.None ? 0 : LEAF_SIZE << stored.height;
        deal.leafCount = stored.leafCount;
        deal.remaining = stored.remaining;
        deal.extraPayment = stored.extraPayment;
        deal.earned = stored.earned;
        deal.refundable = stored.refundable;
        deal.bond = stored.bond;
        deal.bondLeft = stored.bondLeft;
        deal.forfeited = stored.forfeited;
    }

    /// @notice When the term ends, extensions included; 0 while the deal is not accepted.
    function endsAt(uint256 dealId) external view returns (uint256) {
        DealRecord storage deal = _deals[dealId];
        return deal.accountedUntil == 0 ? 0 : _endOfTerm(deal) + deal.extraDuration;
    }

    /// @notice The hash of the terms of a proposed deal, for `acceptDeal`: keccak256 of the ABI encoding of chain id, this contract,
    /// number, client, prover, commp, pieceSize, leafCount, duration, payment, bond, and duration and payment of extensions.
    function termsHashOf(uint256 dealId) public view returns (bytes32) {
        DealRecord storage deal = _inState(dealId, State.Proposed);
        bytes memory parties = abi.encode(block.chainid, address(this), dealId, deal.client, deal.prover);
        bytes memory piece = abi.encode(deal.commp, uint256(LEAF_SIZE) << deal.height, deal.leafCount);
        uint256 bond = deal.bondState == BondState.None ? 0 : deal.bond;
        bytes memory pay = abi.encode(deal.duration, deal.remaining, bond, deal.extraDuration, deal.extraPayment);
        return keccak256(bytes.concat(parties, piece, pay));
    }

    /// @notice Deals of a client, newest first.
    /// @param before Of the page before, its last deal; 0 for the first page.
    /// @return dealIds At most `limit`. An empty page is the end.
    function dealsOfClient(address client, uint256 before, uint256 limit) external view returns (uint256[] memory dealIds) {
        dealIds = new uint256[](limit);
        uint256 found = 0;
        uint256 next = before == 0 ? _lastOfClient[client] : _deals[before].client == client ? _deals[before].previousOfClient : 0;
        for (; next != 0 && found < limit; next = _deals[next].previousOfClient) dealIds[found++] = next;
        _shorten(dealIds, found);
    }

    /// @notice Deals of a prover, newest first, proposals included. Anybody can propose a deal to a prover.
    /// @param before Of the page before, its last deal; 0 for the first page.
    /// @return dealIds At most `limit`. An empty page is the end.
    function dealsOfProver(address prover, uint256 before, uint256 limit) external view returns (uint256[] memory dealIds) {
        dealIds = new uint256[](limit);
        uint256 found = 0;
        uint256 next = before == 0 ? _lastOfProver[prover] : _deals[before].prover == prover ? _deals[before].previousOfProver : 0;
        for (; next != 0 && found < limit; next = _deals[next].previousOfProver) dealIds[found++] = next;
        _shorten(dealIds, found);
    }

    /// @notice What deals from one number to another hold together. Over all deals, the sum of all amounts is what the contract owes,
    /// and its balance of the token is at least that. Numbers without a deal count nothing.
    function totals(uint256 fromDealId, uint256 toDealId) external view returns (Totals memory sum) {
        for (uint256 dealId = fromDealId; dealId <= toDealId; dealId++) {
            DealRecord storage deal = _deals[dealId];
            sum.escrowed += uint256(deal.remaining) + deal.extraPayment;
            sum.earned += deal.earned;
            sum.refundable += deal.refundable;
            sum.bonded += deal.bondLeft;
            sum.forfeited += deal.forfeited;
        }
    }

    function _shorten(uint256[] memory list, uint256 length) private pure {
        assembly ("memory-safe") {
            mstore(list, length)
        }
    }
}
