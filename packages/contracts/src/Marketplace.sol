// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {DealBook} from "./DealBook.sol";
import {DealChallenges} from "./DealChallenges.sol";

/// @title Storage deals that are paid by the proof.
/// @notice A client puts the pay for storing a piece in escrow. The prover accepts, proves once in every proving period that
/// it has the piece, and earns the share of that period. The share of a period without a proof goes back to the client, with a tenth of
/// the prover's bond. After three of them in a row the deal ends, and the client gets all that is left of both.
///
/// For every deal and at any time: paid in = remaining + extraPayment + earned + refundable + paid out, and
/// bond paid in = bondLeft + forfeited + bond paid out. Nobody owns this contract, nobody can pause or replace it, and each escrow is
/// reached only by the rules of its own deal.
///
/// A proof is about five leaves of the piece. They are drawn by randomness of a block that is `seedDelay` blocks after the one in which
/// the prover opens the challenge: the beacon of the chain, or the `mixHash` of that block's header. A challenge is opened once
/// in a period, and no transaction can read its randomness before it is final for this deal. So a prover cannot look at its leaves and
/// take the opening back. The hash of a block is not used, since the maker of a block can try many.
contract Marketplace is DealChallenges, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @param usdc_ The token that deals are paid in; one that takes no fee of transfers.
    /// @param provingPeriod_ Seconds within which one proof is due.
    /// @param acceptanceWindow_ Seconds that a prover has to accept.
    /// @param firstDealId The number of the first deal, above those of an earlier contract that the same clients use.
    /// @param seedDelay_ Blocks from the opening of a challenge to the one that draws its leaves; at least 1.
    /// @param beacon_ Answers the randomness of a block number, as the precompile of Filecoin at 0xfe00…0006. 0 to use headers.
    constructor(
        IERC20 usdc_,
        uint64 provingPeriod_,
        uint64 acceptanceWindow_,
        uint256 firstDealId,
        uint16 seedDelay_,
        address beacon_
    ) DealBook(usdc_, provingPeriod_, acceptanceWindow_, firstDealId, seedDelay_, beacon_) {}

    /// @notice Proposes a deal and takes its pay into escrow from the caller, who becomes its client.
    /// @return dealId The number of the deal.
    function proposeDeal(Proposal calldata proposal) external nonReentrant returns (uint256 dealId) {
        dealId = ++lastDealId;
        _propose(dealId, proposal);
        usdc.safeTransferFrom(msg.sender, address(this), proposal.totalPayment);
    }

    /// @notice Proposes several deals, all or none, and takes their pay in one transfer.
    /// @return dealIds The numbers of the deals, in the order of the proposals and without a gap.
    function proposeDeals(Proposal[] calldata proposals) external nonReentrant returns (uint256[] memory dealIds) {
        return _proposeAll(proposals);
    }

    /// @notice Proposes several deals as `proposeDeals` does, with an allowance that the caller signed (ERC-2612).
    ///
    /// If the permit fails, for example because somebody else has already sent it, the allowance that is there is used.
    /// @param value The allowance that was signed, with `deadline`, for this contract.
    function proposeDealsWithPermit(
        Proposal[] calldata proposals,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external nonReentrant returns (uint256[] memory dealIds) {
        try IERC20Permit(address(usdc)).permit(msg.sender, address(this), value, deadline, v, r, s) {} catch {}
        return _proposeAll(proposals);
    }

    /// @notice Accepts a deal and pays its bond: the term begins now. By the prover, within the acceptance window.
    /// @param termsHash The hash of the terms that the prover has checked, as `termsHashOf` computes it. So neither an
    /// extension just before this call nor another deal under the same number after a reorganisation can bind the prover.
    function acceptDeal(uint256 dealId, bytes32 termsHash) external nonReentrant {
        DealRecord storage deal = _inState(dealId, State.Proposed);
        if (msg.sender != deal.prover) revert NotProver(dealId, msg.sender);
        if (_acceptanceIsOver(deal)) revert AcceptanceOver(dealId);
        bytes32 ownHash = termsHashOf(dealId);
        if (termsHash != ownHash) revert OtherTerms(dealId, ownHash);
        deal.state = State.Active;
        deal.since = uint40(block.timestamp);
        deal.accountedUntil = uint40(block.timestamp);
        uint96 bond = 0;
        if (deal.bondState == BondState.Bonded) {
            bond = deal.bond;
            deal.bondLeft = bond;
        }
        emit DealAccepted(dealId, _endOfTerm(deal) + deal.extraDuration, bond);
        if (bond > 0) usdc.safeTransferFrom(msg.sender, address(this), bond);
    }

    /// @notice Withdraws a deal that was not accepted; its escrow goes to the client. By the client, and after the acceptance
    /// window by anybody.
    function withdrawDeal(uint256 dealId) external nonReentrant {
        DealRecord storage deal = _inState(dealId, State.Proposed);
        if (msg.sender != deal.client && !_acceptanceIsOver(deal)) revert NotClient(dealId, msg.sender);
        _withdraw(dealId, deal);
    }

    /// @notice Adds time after the end of the term, with pay of its own. By the client, before the deal is over.
    ///
    /// What was agreed keeps its pay: an extension pays for the time after it, and extensions that the term has not reached yet
    /// share one rate. The prover is not asked, since nothing obliges it: the bond is for the term that it accepted, and is the prover's
    /// again when the extension begins.
    /// @param extraDuration Seconds, 1 or more.
    /// @param extraPayment For all of them; 0 is allowed.
    function extendDeal(uint256 dealId, uint64 extraDuration, uint256 extraPayment) external nonReentrant {
        DealRecord storage deal = _deals[dealId];
        if (deal.state == State.Active) _accountForMissed(dealId, deal);
        if (deal.state != State.Active && deal.state != State.Proposed) revert WrongState(dealId, deal.state);
        if (msg.sender != deal.client) revert NotClient(dealId, msg.sender);
        if (deal.isEnding) revert AlreadyEnding(dealId);
        if (deal.state == State.Proposed && _acceptanceIsOver(deal)) revert AcceptanceOver(dealId);
        if (deal.state == State.Active && block.timestamp >= _endOfTerm(deal)) revert DealOver(dealId);

        uint256 total = uint256(deal.duration) + deal.extraDuration + extraDuration;
        if (extraDuration == 0 || total > MAX_DURATION) revert DurationOutOfRange(extraDuration);
        // All flows of a deal are between these amounts and out of it, so that none of them ever runs over.
        uint256 held = uint256(deal.remaining) + deal.extraPayment + deal.earned + deal.refundable;
        if (extraPayment > MAX_PAYMENT - held) revert PaymentTooLarge(extraPayment);
        deal.extraDuration += uint40(extraDuration);
        deal.extraPayment += uint96(extraPayment);
        _enterExtension(dealId, deal);
        emit DealExtended(dealId, extraDuration, extraPayment);
        usdc.safeTransferFrom(msg.sender, address(this), extraPayment);
    }

    /// @notice Ends a deal early. By the client.
    ///
    /// A proposal is withdrawn. An active deal ends one proving period after the current one: the prover proves both and is
    /// paid for them as agreed, and the escrow for later goes to the client. The bond goes back as at the end of any term.
    function endDeal(uint256 dealId) external nonReentrant {
        DealRecord storage deal = _deals[dealId];
        if (deal.state == State.Active) _accountForMissed(dealId, deal);
        if (deal.state != State.Active && deal.state != State.Proposed) revert WrongState(dealId, deal.state);
        if (msg.sender != deal.client) revert NotClient(dealId, msg.sender);
        if (deal.state == State.Proposed) return _withdraw(dealId, deal);
        if (deal.isEnding) revert AlreadyEnding(dealId);
        if (block.timestamp >= _endOfTerm(deal)) revert DealOver(dealId);
        _giveNotice(dealId, deal);
        _payBoth(dealId, deal);
    }

    /// @notice Opens the challenge of the current period: the randomness of the block `seedDelay` blocks later draws its leaves.
    /// By the prover, once in a period.
    ///
    /// The proof is due before the period ends, while the chain knows the hash of that block: for 256 blocks, or for 8191 where
    /// the chain has EIP-2935, or without a limit where it has a beacon.
    function openChallenge(uint256 dealId) external nonReentrant {
        _revertFor(_open(dealId), dealId);
    }

    /// @notice Opens the challenges of several deals. One that cannot be opened is skipped, with an event that says why.
    function openMany(uint256[] calldata dealIds) external nonReentrant {
        for (uint256 i = 0; i < dealIds.length; i++) {
            bytes4 reason = _open(dealIds[i]);
            if (reason != 0) emit Skipped(dealIds[i], reason);
        }
    }

    /// @notice Proves that the prover has the piece, and earns the share of the current period. By the prover, once in a period.
    /// @param header The RLP header of the deal's `seedBlock`; empty if the contract has a beacon.
    /// @param nodes For each of the five leaves of `challengedLeaves`, in their order: the 32 bytes of the leaf, and the siblings from
    /// the leaf's up to those below the root.
    function prove(uint256 dealId, bytes calldata header, bytes32[] calldata nodes) external nonReentrant {
        DealRecord storage deal = _deals[dealId];
        bytes4 reason = _challenged(dealId, deal);
        bytes32 seed;
        if (reason == 0) (reason, seed) = _seedOf(deal.seedBlock, header);
        if (reason == 0) reason = _prove(dealId, deal, seed, nodes);
        _revertFor(reason, dealId);
    }

    /// @notice Proves several deals. One that cannot be proven is skipped, with an event that says why.
    /// @param headers Each is read once if all deals that name it have the same `seedBlock`, as those of one `openMany` do.
    function proveMany(bytes[] calldata headers, DealProof[] calldata proofs) external nonReentrant {
        uint256[] memory seedBlocks = new uint256[](headers.length);
        bytes32[] memory seeds = new bytes32[](headers.length);
        for (uint256 i = 0; i < proofs.length; i++) {
            DealProof calldata proof = proofs[i];
            DealRecord storage deal = _deals[proof.dealId];
            bytes4 reason = _challenged(proof.dealId, deal);
            if (reason == 0 && proof.header >= headers.length) reason = InvalidHeader.selector;
            if (reason == 0 && seedBlocks[proof.header] != deal.seedBlock) {
                bytes32 seed;
                (reason, seed) = _seedOf(deal.seedBlock, headers[proof.header]);
                if (reason == 0) (seedBlocks[proof.header], seeds[proof.header]) = (deal.seedBlock, seed);
            }
            if (reason == 0) reason = _prove(proof.dealId, deal, seeds[proof.header], proof.nodes);
            if (reason != 0) emit Skipped(proof.dealId, reason);
        }
    }

    /// @notice Accounts for periods that have passed without a proof, and pays both sides what is due to them. By anybody.
    function slash(uint256 dealId) external nonReentrant {
        DealRecord storage deal = _inState(dealId, State.Active);
        uint32 before = deal.period;
        _accountForMissed(dealId, deal);
        if (deal.period == before) revert NothingMissed(dealId);
        _payBoth(dealId, deal);
    }

    /// @notice Pays both sides what is due to them so far, and closes the deal if its term is over or too much was missed. By anybody.
    ///
    /// A side that cannot be paid, such as an account that the token refuses, does not hold up the other: its part stays due, and
    /// this may be called again.
    function settle(uint256 dealId) external nonReentrant {
        DealRecord storage deal = _deals[dealId];
        State before = deal.state;
        if (before == State.Active) _accountForMissed(dealId, deal);
        if (deal.state == State.Active && block.timestamp >= _endOfTerm(deal)) {
            deal.state = State.Settled;
            _releaseBond(dealId, deal);
            emit DealSettled(dealId);
        } else if (deal.state < State.Active || deal.state > State.Slashed) {
            revert WrongState(dealId, deal.state);
        } else if (deal.state == before && !_owesAnybody(deal)) {
            // A deal that ends in this call is closed even if it had no pay.
            revert NothingToSettle(dealId);
        }
        _payBoth(dealId, deal);
    }

    function _proposeAll(Proposal[] calldata proposals) private returns (uint256[] memory dealIds) {
        if (proposals.length == 0) revert NoProposals();
        dealIds = new uint256[](proposals.length);
        uint256 before = lastDealId;
        lastDealId = before + proposals.length;
        uint256 total = 0;
        for (uint256 i = 0; i < proposals.length; i++) {
            dealIds[i] = before + i + 1;
            _propose(dealIds[i], proposals[i]);
            total += proposals[i].totalPayment;
        }
        usdc.safeTransferFrom(msg.sender, address(this), total);
    }

    function _withdraw(uint256 dealId, DealRecord storage deal) private {
        uint256 refund = uint256(deal.remaining) + deal.extraPayment;
        deal.state = State.Withdrawn;
        deal.remaining = 0;
        deal.extraPayment = 0;
        emit DealWithdrawn(dealId, refund);
        usdc.safeTransfer(deal.client, refund);
    }

    /// @dev Each side's due is written off before its transfer, and written back only if the transfer failed.
    function _payBoth(uint256 dealId, DealRecord storage deal) private {
        (uint96 earned, uint96 released) = (deal.earned, 0);
        (uint96 refundable, uint96 forfeited) = (deal.refundable, 0);
        deal.earned = 0;
        deal.refundable = 0;
        if (deal.bondState != BondState.None) {
            forfeited = deal.forfeited;
            deal.forfeited = 0;
            if (deal.bondState == BondState.Released) {
                released = deal.bondLeft;
                deal.bondLeft = 0;
            }
        }
        if (!_pay(dealId, deal.prover, earned, released)) {
            deal.earned = earned;
            if (released > 0) deal.bondLeft = released;
        }
        if (!_pay(dealId, deal.client, refundable, forfeited)) {
            deal.refundable = refundable;
            if (forfeited > 0) deal.forfeited = forfeited;
        }
    }

    function _pay(uint256 dealId, address to, uint256 pay, uint256 bond) private returns (bool isPaid) {
        if (pay + bond == 0) return true;
        isPaid = usdc.trySafeTransfer(to, pay + bond);
        if (isPaid) emit Paid(dealId, to, pay, bond);
    }
}
