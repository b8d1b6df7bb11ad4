// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {IMarketplace} from "./IMarketplace.sol";

/// @title Storage deals that are paid by the proof.
/// @notice A client puts the pay for holding a piece in escrow; the prover accepts, proves once in every proving period that
/// it has the piece, and earns the share of that period. What a period without a proof would have earned goes back to the client,
/// and after three of them in a row the deal ends.
///
/// For every deal and at any time: paid in = remaining + extraPayment + earned + refundable + paid out. Nobody owns this contract,
/// nobody can pause or replace it, and each escrow is reached only by the rules of its own deal.
///
/// The challenge of a period is drawn by the hash of the block in which the prover opens it. That hash is fixed once the period has
/// begun, and no transaction can read it in its own block, so a prover cannot look at its leaf and take the opening back. The
/// `prevrandao` of a block can be read only inside that block: whoever opened a challenge by it could revert until the leaf is one it
/// still has. A challenge is opened once in a period and good for 256 blocks, so waiting for a better one is no way out either. What is
/// left: whoever makes blocks can discard one for its hash, so a prover must not be the only maker of blocks of its chain.
contract Marketplace is IMarketplace, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @notice Periods without a proof, one after another, that end a deal.
    uint8 public constant MISSES_TO_SLASH = 3;
    /// @notice The longest term, extensions included.
    uint64 public constant MAX_DURATION = 100 * 365 days;
    /// @notice The most that one proposal or one extension may pay, so that no sum of them runs over.
    uint96 public constant MAX_PAYMENT = type(uint96).max;
    uint64 private constant MIN_PIECE_SIZE = 128;
    uint64 private constant LEAF_SIZE = 32;
    /// @dev A node of the tree is a sha2-256 without its two highest bits, little-endian: it fits into a field of 254 bits.
    bytes32 private constant NODE_MASK = ~bytes32(uint256(0xc0));

    /// @notice The token that deals are paid in.
    IERC20 public immutable usdc;
    /// @notice Seconds of a proving period. The last one of a term takes what is left, up to twice as much.
    uint64 public immutable provingPeriod;
    /// @notice Seconds after its proposal within which a deal can be accepted.
    uint64 public immutable acceptanceWindow;

    /// @notice The newest deal. Ids count from 1.
    uint256 public lastDealId;
    mapping(uint256 dealId => Deal) private _deals;

    /// @param usdc_ The token that deals are paid in; one that takes no fee of transfers.
    /// @param provingPeriod_ Seconds within which one proof is due.
    /// @param acceptanceWindow_ Seconds that a prover has to accept.
    constructor(IERC20 usdc_, uint64 provingPeriod_, uint64 acceptanceWindow_) {
        if (address(usdc_) == address(0)) revert ZeroAddress();
        if (provingPeriod_ == 0 || acceptanceWindow_ == 0) revert ZeroPeriod();
        if (provingPeriod_ > MAX_DURATION) revert DurationOutOfRange(provingPeriod_);
        if (acceptanceWindow_ > MAX_DURATION) revert DurationOutOfRange(acceptanceWindow_);
        usdc = usdc_;
        provingPeriod = provingPeriod_;
        acceptanceWindow = acceptanceWindow_;
    }

    /// @notice Proposes a deal and takes its pay into escrow from the caller, who becomes its client.
    /// @param prover Who is to hold the piece.
    /// @param commp The root of the piece's tree.
    /// @param pieceSize Bytes of the piece after padding: a power of two, 128 or more.
    /// @param duration Seconds of the term, which begins when the prover accepts; at least one proving period.
    /// @param totalPayment For the whole term; 0 is allowed.
    /// @return dealId The id of the deal.
    function proposeDeal(address prover, bytes32 commp, uint64 pieceSize, uint64 duration, uint256 totalPayment)
        external
        nonReentrant
        returns (uint256 dealId)
    {
        dealId = ++lastDealId;
        _propose(dealId, Proposal(prover, commp, pieceSize, duration, totalPayment));
        usdc.safeTransferFrom(msg.sender, address(this), totalPayment);
    }

    /// @notice Proposes several deals, all or none, and takes their pay in one transfer.
    /// @return dealIds The ids of the deals, in the order of the proposals and without a gap.
    function proposeDeals(Proposal[] calldata proposals) external nonReentrant returns (uint256[] memory dealIds) {
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

    /// @notice Takes a deal on: its term begins now. By the prover, within the acceptance window.
    function acceptDeal(uint256 dealId) external nonReentrant {
        Deal storage deal = _inState(dealId, State.Proposed);
        if (msg.sender != deal.prover) revert NotProver(dealId, msg.sender);
        if (_acceptanceIsOver(deal)) revert AcceptanceOver(dealId);
        deal.state = State.Active;
        deal.since = uint40(block.timestamp);
        deal.accountedUntil = uint40(block.timestamp);
        emit DealAccepted(dealId, _endOfTerm(deal) + deal.extraDuration);
    }

    /// @notice Takes back a deal that was not accepted; its escrow goes to the client. By the client, and after the acceptance
    /// window by anybody.
    function withdrawDeal(uint256 dealId) external nonReentrant {
        Deal storage deal = _inState(dealId, State.Proposed);
        if (msg.sender != deal.client && !_acceptanceIsOver(deal)) revert NotClient(dealId, msg.sender);
        uint256 refund = uint256(deal.remaining) + deal.extraPayment;
        deal.state = State.Withdrawn;
        deal.remaining = 0;
        deal.extraPayment = 0;
        emit DealWithdrawn(dealId, refund);
        usdc.safeTransfer(deal.client, refund);
    }

    /// @notice Adds time behind the end of the term, with pay of its own. By the client, before the deal is over.
    ///
    /// What was agreed keeps its pay: an extension pays for the time after it, and extensions that the term has not reached yet
    /// share one rate. The prover is not asked, since nothing obliges it: time without proofs earns nothing and costs nothing.
    /// @param extraDuration Seconds, 1 or more.
    /// @param extraPayment For all of them; 0 is allowed.
    function extendDeal(uint256 dealId, uint64 extraDuration, uint256 extraPayment) external nonReentrant {
        Deal storage deal = _deals[dealId];
        if (deal.state == State.Active) _accountForMissed(dealId, deal);
        if (deal.state != State.Active && deal.state != State.Proposed) revert WrongState(dealId, deal.state);
        if (msg.sender != deal.client) revert NotClient(dealId, msg.sender);
        if (deal.state == State.Proposed && _acceptanceIsOver(deal)) revert AcceptanceOver(dealId);
        if (deal.state == State.Active && block.timestamp >= _endOfTerm(deal)) revert DealOver(dealId);

        uint256 total = uint256(deal.duration) + deal.extraDuration + extraDuration;
        if (extraDuration == 0 || total > MAX_DURATION) revert DurationOutOfRange(extraDuration);
        if (extraPayment > MAX_PAYMENT) revert PaymentTooLarge(extraPayment);
        deal.extraDuration += uint40(extraDuration);
        deal.extraPayment += uint128(extraPayment);
        _enterExtension(deal);
        emit DealExtended(dealId, extraDuration, extraPayment);
        usdc.safeTransferFrom(msg.sender, address(this), extraPayment);
    }

    /// @notice Has the challenge of the period at hand drawn by the hash of this very block. By the prover, once a period.
    ///
    /// The proof is due within 256 blocks and before the period ends.
    function openChallenge(uint256 dealId) external nonReentrant {
        Deal storage deal = _provable(dealId);
        if (deal.challengeBlock != 0) revert ChallengeAlreadyOpen(dealId);
        deal.challengeBlock = uint40(block.number);
        emit ChallengeOpened(dealId, deal.period, block.number);
    }

    /// @notice Proves that the prover has the piece, and earns the share of the period at hand. By the prover, once a period.
    /// @param leaf The 32 bytes of padded data at `challengedLeaf`.
    /// @param path The siblings from the leaf's up to those below the root.
    function prove(uint256 dealId, bytes32 leaf, bytes32[] calldata path) external nonReentrant {
        Deal storage deal = _provable(dealId);
        uint256 position = challengedLeaf(dealId);
        if (uint256(LEAF_SIZE) << path.length != deal.pieceSize) revert InvalidProof(dealId);
        bytes32 node = leaf;
        for (uint256 i = 0; i < path.length; i++) {
            bytes memory pair = position & 1 == 0 ? bytes.concat(node, path[i]) : bytes.concat(path[i], node);
            node = sha256(pair) & NODE_MASK;
            position >>= 1;
        }
        if (node != deal.commp) revert InvalidProof(dealId);

        deal.missesInARow = 0;
        uint32 period = deal.period;
        uint128 pay = _account(deal);
        deal.earned += pay;
        emit PeriodProven(dealId, period, pay);
    }

    /// @notice Accounts for periods that have passed without a proof, and pays both sides what is theirs. By anybody.
    function slash(uint256 dealId) external nonReentrant {
        Deal storage deal = _inState(dealId, State.Active);
        uint32 before = deal.period;
        _accountForMissed(dealId, deal);
        if (deal.period == before) revert NothingMissed(dealId);
        _payBoth(dealId, deal);
    }

    /// @notice Pays both sides what is theirs so far, and closes the deal when its term is over. By anybody.
    ///
    /// A side that cannot be paid, such as an account that the token refuses, does not hold up the other: its part stays owed, and
    /// this may be called again.
    function settle(uint256 dealId) external nonReentrant {
        Deal storage deal = _deals[dealId];
        if (deal.state == State.Active) _accountForMissed(dealId, deal);
        if (deal.state == State.Active && block.timestamp >= _endOfTerm(deal)) {
            deal.state = State.Settled;
            emit DealSettled(dealId);
        } else if (deal.state < State.Active || deal.state > State.Slashed) {
            revert WrongState(dealId, deal.state);
        } else if (deal.earned == 0 && deal.refundable == 0) {
            revert NothingToSettle(dealId);
        }
        _payBoth(dealId, deal);
    }

    /// @notice The deal of an id; its state is `None` when there is none. Periods that have passed since somebody last touched it
    /// are not accounted for.
    function deals(uint256 dealId) external view returns (Deal memory) {
        return _deals[dealId];
    }

    /// @notice When the term ends, extensions included; 0 while the deal is not accepted.
    function endsAt(uint256 dealId) external view returns (uint256) {
        Deal storage deal = _deals[dealId];
        return deal.accountedUntil == 0 ? 0 : _endOfTerm(deal) + deal.extraDuration;
    }

    /// @notice The leaf that the proof of the period at hand has to be about:
    /// keccak256(hash of the challenge's block, id of the deal, number of the period) modulo the leaves of the padded piece.
    function challengedLeaf(uint256 dealId) public view returns (uint256) {
        Deal storage deal = _deals[dealId];
        if (deal.challengeBlock == 0 || block.timestamp >= _endOfPeriod(deal)) revert ChallengeNotOpen(dealId);
        if (block.number <= deal.challengeBlock) revert ChallengeNotDrawn(dealId);
        bytes32 seed = blockhash(deal.challengeBlock);
        if (seed == 0) revert ChallengeLapsed(dealId);
        return uint256(keccak256(abi.encode(seed, dealId, deal.period))) % (deal.pieceSize / LEAF_SIZE);
    }

    function _propose(uint256 dealId, Proposal memory proposal) private {
        (uint64 pieceSize, uint64 duration) = (proposal.pieceSize, proposal.duration);
        if (proposal.prover == address(0)) revert ZeroAddress();
        if (pieceSize < MIN_PIECE_SIZE || pieceSize & (pieceSize - 1) != 0) revert InvalidPieceSize(pieceSize);
        if (duration < provingPeriod || duration > MAX_DURATION) revert DurationOutOfRange(duration);
        if (proposal.totalPayment > MAX_PAYMENT) revert PaymentTooLarge(proposal.totalPayment);

        Deal storage deal = _deals[dealId];
        deal.client = msg.sender;
        deal.pieceSize = pieceSize;
        deal.prover = proposal.prover;
        deal.state = State.Proposed;
        deal.since = uint40(block.timestamp);
        deal.duration = uint40(duration);
        deal.commp = proposal.commp;
        deal.remaining = uint128(proposal.totalPayment);
        emit DealProposed(
            dealId, msg.sender, proposal.prover, proposal.commp, pieceSize, duration, proposal.totalPayment
        );
    }

    function _inState(uint256 dealId, State state) private view returns (Deal storage deal) {
        deal = _deals[dealId];
        if (deal.state != state) revert WrongState(dealId, deal.state);
    }

    /// @dev The deal, with all that is past accounted for, when its prover calls and the period at hand waits for a proof.
    function _provable(uint256 dealId) private returns (Deal storage deal) {
        deal = _inState(dealId, State.Active);
        if (msg.sender != deal.prover) revert NotProver(dealId, msg.sender);
        _accountForMissed(dealId, deal);
        if (deal.state != State.Active) revert WrongState(dealId, deal.state);
        if (block.timestamp >= _endOfTerm(deal)) revert DealOver(dealId);
        if (block.timestamp < deal.accountedUntil) revert AlreadyProven(dealId);
    }

    /// @dev Ends with the period at hand being the one that runs now, or later when that is proven; or with the deal slashed or
    /// all of its term accounted for. Goes round three times at most.
    function _accountForMissed(uint256 dealId, Deal storage deal) private {
        while (deal.accountedUntil < _endOfTerm(deal) && block.timestamp >= _endOfPeriod(deal)) {
            uint32 period = deal.period;
            uint128 refund = _account(deal);
            deal.refundable += refund;
            emit PeriodMissed(dealId, period, refund);
            deal.missesInARow += 1;
            if (deal.missesInARow == MISSES_TO_SLASH) {
                uint128 rest = deal.remaining + deal.extraPayment;
                deal.state = State.Slashed;
                deal.refundable += rest;
                deal.remaining = 0;
                deal.extraPayment = 0;
                emit DealSlashed(dealId, rest);
                return;
            }
        }
    }

    /// @dev Ends the period at hand and takes its share out of the escrow: as much of what remains as it is of the time that remains,
    /// so that the last period takes all of it and nothing is lost to rounding.
    function _account(Deal storage deal) private returns (uint128 share) {
        uint256 end = _endOfPeriod(deal);
        uint256 timeLeft = _endOfTerm(deal) - deal.accountedUntil;
        share = uint128(uint256(deal.remaining) * (end - deal.accountedUntil) / timeLeft);
        deal.remaining -= share;
        deal.accountedUntil = uint40(end);
        deal.challengeBlock = 0;
        deal.period += 1;
        _enterExtension(deal);
    }

    /// @dev Once all that was agreed before is accounted for, what was added behind it becomes the rest of the term.
    function _enterExtension(Deal storage deal) private {
        if (deal.accountedUntil < _endOfTerm(deal) || deal.state != State.Active) return;
        deal.duration += deal.extraDuration;
        deal.remaining += deal.extraPayment;
        deal.extraDuration = 0;
        deal.extraPayment = 0;
    }

    /// @dev Each side's debt is written off before its transfer, and written back only when the transfer failed.
    function _payBoth(uint256 dealId, Deal storage deal) private {
        uint128 earned = deal.earned;
        uint128 refundable = deal.refundable;
        deal.earned = 0;
        deal.refundable = 0;
        if (!_pay(dealId, deal.prover, earned)) deal.earned = earned;
        if (!_pay(dealId, deal.client, refundable)) deal.refundable = refundable;
    }

    function _pay(uint256 dealId, address to, uint256 amount) private returns (bool isPaid) {
        if (amount == 0) return true;
        isPaid = usdc.trySafeTransfer(to, amount);
        if (isPaid) emit Paid(dealId, to, amount);
    }

    function _acceptanceIsOver(Deal storage deal) private view returns (bool) {
        return block.timestamp > uint256(deal.since) + acceptanceWindow;
    }

    /// @dev Of the term as far as it was reached; extensions that are not reached yet come after it.
    function _endOfTerm(Deal storage deal) private view returns (uint256) {
        return uint256(deal.since) + deal.duration;
    }

    /// @dev Of the period at hand. What is left after it is never less than a period.
    function _endOfPeriod(Deal storage deal) private view returns (uint256) {
        uint256 start = deal.accountedUntil;
        uint256 end = _endOfTerm(deal);
        return end - start < 2 * uint256(provingPeriod) ? end : start + provingPeriod;
    }
}
