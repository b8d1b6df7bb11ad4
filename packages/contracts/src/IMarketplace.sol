// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

/// @title The types, events and errors of the marketplace; see `Marketplace`.
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

    /// @notice Where the prover's bond is. `Released`: it is the prover's again, and `bondLeft` is due to it.
    enum BondState {
        None,
        Bonded,
        Released
    }

    /// @notice What a client asks for.
    struct Proposal {
        /// Stores the piece, and accepts the deal.
        address prover;
        /// The root of the piece's tree.
        bytes32 commp;
        /// Bytes of the piece after padding: a power of two, 128 or more.
        uint64 pieceSize;
        /// Leaves of 32 bytes with data, from the first on; challenges are about these. At most `pieceSize / 32`.
        uint64 leafCount;
        /// Seconds of the term, which begins when the prover accepts; at least one proving period.
        uint64 duration;
        /// For the whole term; 0 is allowed.
        uint256 totalPayment;
        /// What the prover pays in when it accepts, and loses when it misses periods; 0 is allowed.
        uint256 bond;
    }

    /// @notice The proof of one deal in `proveMany`.
    struct DealProof {
        uint256 dealId;
        /// Which of the headers of the call is that of the deal's `seedBlock`.
        uint256 header;
        /// As in `prove`.
        bytes32[] nodes;
    }

    /// @notice A deal. Times are seconds since 1970, durations seconds, amounts units of 10^-6 USDC.
    struct Deal {
        address client;
        address prover;
        State state;
        /// True once the client has given notice.
        bool isEnding;
        BondState bondState;
        /// Missed periods since the last proven one.
        uint8 missesInARow;
        /// All missed periods.
        uint32 misses;
        /// The number of the current period: how many are accounted for, as proven or missed.
        uint32 period;
        /// When the deal was proposed; once accepted, when its term began.
        uint40 since;
        /// Of the term, as far as `remaining` pays for it.
        uint40 duration;
        /// Where the current period begins.
        uint40 accountedUntil;
        /// The block whose randomness draws the leaves of the current period; 0 if its challenge is not open.
        uint40 seedBlock;
        /// Seconds added after `duration` by extensions, until the term reaches them.
        uint40 extraDuration;
        bytes32 commp;
        uint64 pieceSize;
        uint64 leafCount;
        /// Escrow for the time from `accountedUntil` to the end of `duration`.
        uint96 remaining;
        /// Escrow for `extraDuration`.
        uint96 extraPayment;
        /// Due to the prover, for proven periods.
        uint96 earned;
        /// Due to the client, of the escrow.
        uint96 refundable;
        /// What the prover pays in when it accepts.
        uint96 bond;
        /// What is left of it.
        uint96 bondLeft;
        /// Due to the client, of the bond.
        uint96 forfeited;
    }

    /// @notice What a range of deals holds. Their sum over all deals is what the contract owes.
    struct Totals {
        uint256 escrowed;
        uint256 earned;
        uint256 refundable;
        uint256 bonded;
        uint256 forfeited;
    }

    /// @notice A deal was proposed, and its pay is in escrow. See `Proposal` for the fields.
    event DealProposed(
        uint256 indexed dealId,
        address indexed client,
        address indexed prover,
        bytes32 commp,
        uint64 pieceSize,
        uint64 leafCount,
        uint64 duration,
        uint256 totalPayment,
        uint256 bond
    );
    /// @notice The prover accepted the deal and paid its bond. The term ends at `endsAt`, unless it is extended or ended.
    event DealAccepted(uint256 indexed dealId, uint256 endsAt, uint256 bond);
    /// @notice The deal was withdrawn before it was accepted, and its escrow went back to the client.
    event DealWithdrawn(uint256 indexed dealId, uint256 refund);
    /// @notice The client added time and pay.
    event DealExtended(uint256 indexed dealId, uint64 extraDuration, uint256 extraPayment);
    /// @notice The client gave notice. The term now ends at `endsAt`, and the escrow for later is due to the client.
    event DealEnding(uint256 indexed dealId, uint256 endsAt, uint256 refund);
    /// @notice The randomness of this block draws the leaves that the proof of the period must be about.
    event ChallengeOpened(uint256 indexed dealId, uint32 period, uint256 seedBlock);
    /// @notice The prover earned the share of a period.
    event PeriodProven(uint256 indexed dealId, uint32 period, uint256 pay);
    /// @notice A period passed without a proof. Its share of the escrow and a part of the bond are due to the client.
    event PeriodMissed(uint256 indexed dealId, uint32 period, uint256 refund, uint256 forfeited);
    /// @notice Too many periods in a row were missed. What was left of escrow and bond is due to the client.
    event DealSlashed(uint256 indexed dealId, uint256 refund, uint256 forfeited);
    /// @notice The term that the bond is for is over, and what is left of it is due to the prover.
    event BondReleased(uint256 indexed dealId, uint256 amount);
    /// @notice The term is over, and all of it is accounted for.
    event DealSettled(uint256 indexed dealId);
    /// @notice One side of the deal was paid what was due to it: `pay` of the escrow, and `bond` of the bond.
    event Paid(uint256 indexed dealId, address indexed to, uint256 pay, uint256 bond);
    /// @notice A batch left out this deal. `reason` is the selector of the error that a call for this deal alone gives.
    event Skipped(uint256 indexed dealId, bytes4 reason);

    /// @notice An account or token is missing.
    error ZeroAddress();
    /// @notice A period, window or delay is 0.
    error ZeroPeriod();
    /// @notice Deals must be numbered from 1 to 2^63.
    error InvalidFirstDealId(uint256 firstDealId);
    /// @notice The block has no randomness that a proof can rest on: this chain has none, or the beacon did not answer.
    error NoRandomness(uint256 number);
    /// @notice A batch is empty.
    error NoProposals();
    /// @notice The size is not a power of two, or less than 128.
    error InvalidPieceSize(uint64 pieceSize);
    /// @notice The piece has no leaf with data, or fewer leaves than that.
    error InvalidLeafCount(uint64 leafCount);
    /// @notice The time is shorter than a proving period, 0, or beyond `MAX_DURATION`.
    error DurationOutOfRange(uint256 duration);
    /// @notice With this, the deal would hold more than `MAX_PAYMENT`.
    error PaymentTooLarge(uint256 payment);
    /// @notice The deal's state does not allow this; `None` if there is no such deal.
    error WrongState(uint256 dealId, State state);
    /// @notice Only the client of the deal may do this.
    error NotClient(uint256 dealId, address caller);
    /// @notice Only the prover of the deal may do this.
    error NotProver(uint256 dealId, address caller);
    /// @notice The deal has other terms: those of `termsHash`.
    error OtherTerms(uint256 dealId, bytes32 termsHash);
    /// @notice The acceptance window is over.
    error AcceptanceOver(uint256 dealId);
    /// @notice The term is over; what is left to do is `settle`.
    error DealOver(uint256 dealId);
    /// @notice The client has already given notice.
    error AlreadyEnding(uint256 dealId);
    /// @notice The current period is proven.
    error AlreadyProven(uint256 dealId);
    /// @notice The current period has its challenge.
    error ChallengeAlreadyOpen(uint256 dealId);
    /// @notice The current period has no challenge yet.
    error ChallengeNotOpen(uint256 dealId);
    /// @notice The block that draws the leaves is not there yet, or is the newest: its hash can be read in the next one.
    error ChallengeNotDrawn(uint256 dealId);
    /// @notice The chain no longer knows the hash of the block that draws the leaves; the period can no longer be proven.
    error ChallengeLapsed(uint256 dealId);
    /// @notice The header is not that of the block that draws the leaves, or has another form than Ethereum's.
    error InvalidHeader(uint256 dealId);
    /// @notice The block that draws the leaves has no randomness.
    error NoSeed(uint256 dealId);
    /// @notice A path does not lead from the leaf, at the challenged place, to the root of the piece.
    error InvalidProof(uint256 dealId);
    /// @notice No period has passed without a proof since the last call.
    error NothingMissed(uint256 dealId);
    /// @notice Nothing is due to anybody, and the term is not over.
    error NothingToSettle(uint256 dealId);
}
