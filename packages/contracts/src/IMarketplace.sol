// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

/// @title What the marketplace keeps, says and refuses; see `Marketplace`.
interface IMarketplace {
    /// @notice `None`: there is no such deal. `Settled` and `Slashed` deals may still owe what `settle` could not deliver.
    enum State {
        None,
        Proposed,
        Active,
        Settled,
        Slashed,
        Withdrawn
    }

    /// @notice What a client asks for. See `proposeDeal` for the fields.
    struct Proposal {
        address prover;
        bytes32 commp;
        uint64 pieceSize;
        uint64 duration;
        uint256 totalPayment;
    }

    /// @notice A deal. Times are seconds since 1970, durations seconds, amounts units of 10^-6 USDC.
    struct Deal {
        address client;
        /// Bytes after padding.
        uint64 pieceSize;
        /// How many periods are accounted for, as proven or missed: the number of the period at hand.
        uint32 period;
        address prover;
        State state;
        /// Missed periods since the last proven one.
        uint8 missesInARow;
        /// When the deal was proposed; once accepted, when its term began.
        uint40 since;
        /// Of the term, as far as `remaining` pays for it.
        uint40 duration;
        /// The root of the piece's tree.
        bytes32 commp;
        /// Escrow for the time from `accountedUntil` to the end of `duration`.
        uint128 remaining;
        /// Earned by the prover and not paid yet.
        uint128 earned;
        /// Due to the client and not paid yet.
        uint128 refundable;
        /// Where the period at hand begins.
        uint40 accountedUntil;
        /// The block whose hash draws the challenge of the period at hand; 0 while it is not open.
        uint40 challengeBlock;
        /// Seconds added behind `duration` by extensions, until the term reaches them.
        uint40 extraDuration;
        /// Escrow for those seconds.
        uint128 extraPayment;
    }

    /// @notice A deal was proposed, and its pay is in escrow. See `proposeDeal` for the fields.
    event DealProposed(
        uint256 indexed dealId,
        address indexed client,
        address indexed prover,
        bytes32 commp,
        uint64 pieceSize,
        uint64 duration,
        uint256 totalPayment
    );
    /// @notice The prover took the deal on; its term ends then, unless it is extended.
    event DealAccepted(uint256 indexed dealId, uint256 endsAt);
    /// @notice The deal was taken back before anybody accepted it.
    event DealWithdrawn(uint256 indexed dealId, uint256 refund);
    /// @notice The client added time and pay.
    event DealExtended(uint256 indexed dealId, uint64 extraDuration, uint256 extraPayment);
    /// @notice The hash of this block draws the leaf that the period's proof has to be about.
    event ChallengeOpened(uint256 indexed dealId, uint32 period, uint256 challengeBlock);
    /// @notice The prover earned a period's share.
    event PeriodProven(uint256 indexed dealId, uint32 period, uint256 pay);
    /// @notice A period passed without a proof, and its share is the client's again.
    event PeriodMissed(uint256 indexed dealId, uint32 period, uint256 refund);
    /// @notice Too many periods in a row were missed; what was left of the escrow is the client's again.
    event DealSlashed(uint256 indexed dealId, uint256 refund);
    /// @notice The term is over, and all of it is accounted for.
    event DealSettled(uint256 indexed dealId);
    /// @notice A side of the deal was paid what was its own.
    event Paid(uint256 indexed dealId, address indexed to, uint256 amount);

    /// @notice An account or token was left out.
    error ZeroAddress();
    /// @notice A period or window of no length.
    error ZeroPeriod();
    /// @notice A batch of none.
    error NoProposals();
    /// @notice Not a power of two, or less than 128.
    error InvalidPieceSize(uint64 pieceSize);
    /// @notice Shorter than a proving period, 0, or beyond `MAX_DURATION`.
    error DurationOutOfRange(uint256 duration);
    /// @notice More than `MAX_PAYMENT`.
    error PaymentTooLarge(uint256 payment);
    /// @notice The deal is in this state, in which that cannot be done; in `None` when there is no such deal.
    error WrongState(uint256 dealId, State state);
    /// @notice Only the deal's client may do that.
    error NotClient(uint256 dealId, address caller);
    /// @notice Only the deal's prover may do that.
    error NotProver(uint256 dealId, address caller);
    /// @notice The acceptance window has passed.
    error AcceptanceOver(uint256 dealId);
    /// @notice The term has passed; what is left to do is `settle`.
    error DealOver(uint256 dealId);
    /// @notice The running period is proven.
    error AlreadyProven(uint256 dealId);
    /// @notice The running period has its challenge.
    error ChallengeAlreadyOpen(uint256 dealId);
    /// @notice The running period has no challenge yet.
    error ChallengeNotOpen(uint256 dealId);
    /// @notice The challenge is drawn by the hash of this block, which nobody knows before the next.
    error ChallengeNotDrawn(uint256 dealId);
    /// @notice More than 256 blocks have passed since the challenge was opened; the period cannot be proven any more.
    error ChallengeLapsed(uint256 dealId);
    /// @notice The path does not lead from the leaf, at the challenged place, to the root of the piece.
    error InvalidProof(uint256 dealId);
    /// @notice No period has passed without a proof since the last look.
    error NothingMissed(uint256 dealId);
    /// @notice Nobody is owed anything, and the term is not over.
    error NothingToSettle(uint256 dealId);
}
