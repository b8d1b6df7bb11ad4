// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IMarketplace} from "./IMarketplace.sol";

/// @title The deals of the marketplace: how they are stored, and how time and money are divided over their periods.
abstract contract DealBook is IMarketplace {
    /// @notice Which contract this is. The first one had no `VERSION`.
    uint256 public constant VERSION = 2;
    /// @notice Leaves that a proof is about.
    uint256 public constant CHALLENGED_LEAVES = 5;
    /// @notice Periods without a proof, one after another, that end a deal. Others do not end it: a client that has
    /// seen too many of them calls `endDeal`.
    uint8 public constant MISSES_TO_SLASH = 3;
    /// @notice A missed period takes this part of the bond: one tenth, rounded up.
    uint256 public constant BOND_PARTS = 10;
    /// @notice The longest term, extensions included.
    uint64 public constant MAX_DURATION = 100 * 365 days;
    /// @notice The most that a deal can hold of its pay, and of its bond.
    uint96 public constant MAX_PAYMENT = type(uint96).max;
    uint64 private constant MIN_PIECE_SIZE = 128;
    uint64 internal constant LEAF_SIZE = 32;
    /// @dev Chains without randomness have a constant in its place: 0, 1, or a small number. Randomness is never this small.
    uint256 private constant LEAST_RANDOM = 1 << 128;

    /// @dev Eight slots; a deal without bond, extension and misses uses the first five. The second is all that opening a challenge writes.
    struct DealRecord {
        address client;
        uint64 previousOfProver;
        // The second slot.
        State state;
        bool isEnding;
        BondState bondState;
        uint8 missesInARow;
        uint32 misses;
        uint32 period;
        uint40 since;
        uint40 duration;
        uint40 accountedUntil;
        uint40 seedBlock;
        // The third slot.
        address prover;
        uint64 leafCount;
        /// Of the piece's tree.
        uint8 height;
        // The fourth slot.
        bytes32 commp;
        // The fifth slot.
        uint96 remaining;
        uint96 earned;
        uint64 previousOfClient;
        // The sixth slot.
        uint96 extraPayment;
        uint96 refundable;
        uint40 extraDuration;
        // The seventh slot.
        uint96 bond;
        uint96 bondLeft;
        // The eighth slot.
        uint96 forfeited;
    }

    /// @notice The token that deals are paid in.
    IERC20 public immutable usdc;
    /// @notice Seconds of a proving period. The last one of a term takes what is left, up to twice as much.
    uint64 public immutable provingPeriod;
    /// @notice Seconds after its proposal within which a deal can be accepted.
    uint64 public immutable acceptanceWindow;
    /// @notice Blocks from the opening of a challenge to the one that draws its leaves.
    uint16 public immutable seedDelay;
    /// @notice Answers the randomness of a block number; 0 if the `mixHash` of its header is used.
    address public immutable beacon;

    /// @notice The newest deal.
    uint256 public lastDealId;
    mapping(uint256 dealId => DealRecord) internal _deals;
    mapping(address client => uint256 dealId) internal _lastOfClient;
    mapping(address prover => uint256 dealId) internal _lastOfProver;

    constructor(
        IERC20 usdc_,
        uint64 provingPeriod_,
        uint64 acceptanceWindow_,
        uint256 firstDealId,
        uint16 seedDelay_,
        address beacon_
    ) {
        if (address(usdc_) == address(0)) revert ZeroAddress();
        if (provingPeriod_ == 0 || acceptanceWindow_ == 0 || seedDelay_ == 0) revert ZeroPeriod();
        if (provingPeriod_ > MAX_DURATION) revert DurationOutOfRange(provingPeriod_);
        if (acceptanceWindow_ > MAX_DURATION) revert DurationOutOfRange(acceptanceWindow_);
        if (firstDealId == 0 || firstDealId > 1 << 63) revert InvalidFirstDealId(firstDealId);
        usdc = usdc_;
        provingPeriod = provingPeriod_;
        acceptanceWindow = acceptanceWindow_;
        seedDelay = seedDelay_;
        beacon = beacon_;
        lastDealId = firstDealId - 1;
        bool hasRandomness = _isRandom(bytes32(block.prevrandao));
        if (beacon_ != address(0)) (hasRandomness,) = _ask(beacon_, block.number);
        if (!hasRandomness) revert NoRandomness(block.number);
    }

    function _propose(uint256 dealId, Proposal calldata proposal) internal {
        (uint64 pieceSize, uint64 duration) = (proposal.pieceSize, proposal.duration);
        if (proposal.prover == address(0)) revert ZeroAddress();
        if (pieceSize < MIN_PIECE_SIZE || pieceSize & (pieceSize - 1) != 0) revert InvalidPieceSize(pieceSize);
        if (proposal.leafCount == 0 || proposal.leafCount > pieceSize / LEAF_SIZE) revert InvalidLeafCount(proposal.leafCount);
        if (duration < provingPeriod || duration > MAX_DURATION) revert DurationOutOfRange(duration);
        if (proposal.totalPayment > MAX_PAYMENT) revert PaymentTooLarge(proposal.totalPayment);
        if (proposal.bond > MAX_PAYMENT) revert PaymentTooLarge(proposal.bond);

        DealRecord storage deal = _deals[dealId];
        deal.client = msg.sender;
        deal.previousOfProver = uint64(_lastOfProver[proposal.prover]);
        deal.state = State.Proposed;
        deal.since = uint40(block.timestamp);
        deal.duration = uint40(duration);
        deal.prover = proposal.prover;
        deal.leafCount = proposal.leafCount;
        deal.height = _heightOf(pieceSize);
        deal.commp = proposal.commp;
        deal.remaining = uint96(proposal.totalPayment);
        deal.previousOfClient = uint64(_lastOfClient[msg.sender]);
        if (proposal.bond > 0) {
            deal.bondState = BondState.Bonded;
            deal.bond = uint96(proposal.bond);
        }
        _lastOfClient[msg.sender] = dealId;
        _lastOfProver[proposal.prover] = dealId;
        emit DealProposed(
            dealId,
            msg.sender,
            proposal.prover,
            proposal.commp,
            pieceSize,
            proposal.leafCount,
            duration,
            proposal.totalPayment,
            proposal.bond
        );
    }

    function _inState(uint256 dealId, State state) internal view returns (DealRecord storage deal) {
        deal = _deals[dealId];
        if (deal.state != state) revert WrongState(dealId, deal.state);
    }

    /// @dev Ends with the current period being the one that runs now, or later if that is proven; or with the deal slashed or
    /// all of its term accounted for. Goes round three times at most.
    function _accountForMissed(uint256 dealId, DealRecord storage deal) internal {
        while (deal.accountedUntil < _endOfTerm(deal) && block.timestamp >= _endOfPeriod(deal)) {
            uint32 period = deal.period;
            deal.misses += 1;
            deal.missesInARow += 1;
            bool isLast = deal.missesInARow == MISSES_TO_SLASH;
            // Before the period is accounted for: no extension begins after it then, which would release the bond.
            if (isLast) deal.state = State.Slashed;
            uint96 forfeited = _forfeit(deal, false);
            uint96 refund = _account(dealId, deal);
            deal.refundable += refund;
            emit PeriodMissed(dealId, period, refund, forfeited);
            if (!isLast) continue;
            uint96 rest = deal.remaining + deal.extraPayment;
            deal.refundable += rest;
            deal.remaining = 0;
            deal.extraPayment = 0;
            emit DealSlashed(dealId, rest, _forfeit(deal, true));
            return;
        }
    }

    /// @dev Ends the current period and takes its share out of the escrow: as much of what remains as it is of the time that remains,
    /// so that the last period takes all of it and nothing is lost to rounding.
    function _account(uint256 dealId, DealRecord storage deal) internal returns (uint96 share) {
        uint256 end = _endOfPeriod(deal);
        uint256 timeLeft = _endOfTerm(deal) - deal.accountedUntil;
        share = uint96(uint256(deal.remaining) * (end - deal.accountedUntil) / timeLeft);
        deal.remaining -= share;
        deal.accountedUntil = uint40(end);
        deal.seedBlock = 0;
        deal.period += 1;
        _enterExtension(dealId, deal);
    }

    /// @dev Once all that was agreed before is accounted for, what was added after it becomes the rest of the term.
    function _enterExtension(uint256 dealId, DealRecord storage deal) internal {
        if (deal.accountedUntil < _endOfTerm(deal) || deal.state != State.Active || deal.extraDuration == 0) return;
        deal.duration += deal.extraDuration;
        deal.remaining += deal.extraPayment;
        deal.extraDuration = 0;
        deal.extraPayment = 0;
        _releaseBond(dealId, deal);
    }

    /// @dev Cuts the term to the current period and the one after it.
    function _giveNotice(uint256 dealId, DealRecord storage deal) internal {
        uint256 start = deal.accountedUntil;
        uint256 end = _endOfTerm(deal);
        // A current period that is proven is over at its end; one that is not is followed by the notice.
        uint256 lastEnd = (block.timestamp < start ? start : _endOfPeriod(deal)) + provingPeriod;
        uint96 refund;
        if (lastEnd < end) {
            uint96 cut = uint96(uint256(deal.remaining) * (end - lastEnd) / (end - start));
            refund = cut + deal.extraPayment;
            deal.remaining -= cut;
            deal.duration = uint40(lastEnd - deal.since);
            deal.extraDuration = 0;
            deal.extraPayment = 0;
        } else if (lastEnd < end + deal.extraDuration) {
            uint256 keptDuration = lastEnd - end;
            uint96 keptPayment = uint96(uint256(deal.extraPayment) * keptDuration / deal.extraDuration);
            refund = deal.extraPayment - keptPayment;
            deal.extraDuration = uint40(keptDuration);
            deal.extraPayment = keptPayment;
        }
        deal.isEnding = true;
        deal.refundable += refund;
        emit DealEnding(dealId, _endOfTerm(deal) + deal.extraDuration, refund);
    }

    function _releaseBond(uint256 dealId, DealRecord storage deal) internal {
        if (deal.bondState != BondState.Bonded) return;
        deal.bondState = BondState.Released;
        emit BondReleased(dealId, deal.bondLeft);
    }

    /// @dev The challenged randomness, from the beacon.
    function _askBeacon(uint256 number) internal view returns (bool isRandom, bytes32 seed) {
        return _ask(beacon, number);
    }

    function _isRandom(bytes32 seed) internal pure returns (bool) {
        return uint256(seed) >= LEAST_RANDOM;
    }

    function _owesAnybody(DealRecord storage deal) internal view returns (bool) {
        if (deal.earned > 0 || deal.refundable > 0) return true;
        if (deal.bondState == BondState.None) return false;
        return deal.forfeited > 0 || (deal.bondState == BondState.Released && deal.bondLeft > 0);
    }

    function _acceptanceIsOver(DealRecord storage deal) internal view returns (bool) {
        return block.timestamp > uint256(deal.since) + acceptanceWindow;
    }

    /// @dev Of the term as far as it was reached; extensions that are not reached yet come after it.
    function _endOfTerm(DealRecord storage deal) internal view returns (uint256) {
        return uint256(deal.since) + deal.duration;
    }

    /// @dev Of the current period. What is left after it is never less than a period.
    function _endOfPeriod(DealRecord storage deal) internal view returns (uint256) {
        uint256 start = deal.accountedUntil;
        uint256 end = _endOfTerm(deal);
        return end - start < 2 * uint256(provingPeriod) ? end : start + provingPeriod;
    }

    /// @dev Of the bond, a missed period's part or all that is left goes to the client.
    function _forfeit(DealRecord storage deal, bool isAll) private returns (uint96 amount) {
        if (deal.bondState != BondState.Bonded) return 0;
        amount = deal.bondLeft;
        if (!isAll) {
            uint256 part = (uint256(deal.bond) + BOND_PARTS - 1) / BOND_PARTS;
            if (part < amount) amount = uint96(part);
        }
        deal.bondLeft -= amount;
        deal.forfeited += amount;
    }

    function _ask(address source, uint256 number) private view returns (bool isRandom, bytes32 seed) {
        (bool isAnswered, bytes memory answer) = source.staticcall(abi.encode(number));
        if (!isAnswered || answer.length != 32) return (false, 0);
        seed = abi.decode(answer, (bytes32));
        return (_isRandom(seed), seed);
    }

    /// @dev 2 to 58, of a power of two.
    function _heightOf(uint64 pieceSize) private pure returns (uint8 height) {
        for (uint64 leaves = pieceSize / LEAF_SIZE; leaves > 1; leaves >>= 1) height += 1;
    }
}
