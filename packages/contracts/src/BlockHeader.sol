// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

/// @title Reads a block of the chain that the contract runs on, from the RLP header that a caller passes.
library BlockHeader {
    /// @dev EIP-2935: where chains that have it keep the hashes of the last 8191 blocks.
    address private constant HISTORY = 0x0000F90827F1C53a10cb7A02335B175320002935;
    /// @dev `blockhash` answers for so many blocks.
    uint256 private constant RECENT_BLOCKS = 256;

    /// @dev A list of 256 to 65,535 bytes.
    uint256 private constant LONG_LIST = 0xf9;
    uint256 private constant EMPTY_STRING = 0x80;
    /// @dev Begins a string of 55 bytes, the longest whose length is in its first byte.
    uint256 private constant LONGEST_SHORT_STRING = 0xb7;
    uint256 private constant STRING_OF_8 = 0x88;
    uint256 private constant STRING_OF_20 = 0x94;
    uint256 private constant STRING_OF_32 = 0xa0;
    /// @dev The logs bloom: a string of 256 bytes, with two bytes that say so.
    uint256 private constant STRING_OF_256 = 0xb90100;

    /// @notice The hash of an earlier block; 0 if the chain no longer knows it.
    function hashOf(uint256 number) internal view returns (bytes32 hash) {
        if (block.number <= number) return 0;
        if (block.number - number <= RECENT_BLOCKS) return blockhash(number);
        (bool isAnswered, bytes memory answer) = HISTORY.staticcall(abi.encode(number));
        // Without a contract at that address, the call succeeds and answers nothing.
        if (isAnswered && answer.length == 32) hash = abi.decode(answer, (bytes32));
    }

    /// @notice The `mixHash` of a header: field 13, and 32 bytes. The fields before and after it must have the lengths that the
    /// header of an Ethereum block gives them; with the hash of the header compared, its maker could not move them either.
    /// @return isRead False if the header has another form.
    function mixHashOf(bytes calldata header) internal pure returns (bool isRead, bytes32 mixHash) {
        // Parent, uncles, miner, state, transactions, receipts, bloom: 0 to 6, all of fixed length.
        if (_byteAt(header, 0) != LONG_LIST || header.length != 3 + (uint256(_wordAt(header, 1)) >> 240)) return (false, 0);
        if (_byteAt(header, 3) != STRING_OF_32 || _byteAt(header, 36) != STRING_OF_32) return (false, 0);
        if (_byteAt(header, 69) != STRING_OF_20 || _byteAt(header, 90) != STRING_OF_32) return (false, 0);
        if (_byteAt(header, 123) != STRING_OF_32 || _byteAt(header, 156) != STRING_OF_32) return (false, 0);
        if (uint256(_wordAt(header, 189)) >> 232 != STRING_OF_256) return (false, 0);
        uint256 next = 448;
        // Difficulty, number, gas limit, gas used, time, extra data: 7 to 12.
        for (uint256 i = 0; i < 6; i++) {
            uint256 first = _byteAt(header, next);
            if (first > LONGEST_SHORT_STRING) return (false, 0);
            next += first < EMPTY_STRING ? 1 : first - EMPTY_STRING + 1;
        }
        // The nonce, of 8 bytes, follows the mixHash.
        if (_byteAt(header, next) != STRING_OF_32 || _byteAt(header, next + 33) != STRING_OF_8) return (false, 0);
        if (header.length < next + 42) return (false, 0);
        return (true, _wordAt(header, next + 1));
    }

    function _byteAt(bytes calldata header, uint256 offset) private pure returns (uint256) {
        return uint256(_wordAt(header, offset)) >> 248;
    }

    /// @dev Beyond the header it reads what follows in the call: `mixHashOf` compares the length before it answers.
    function _wordAt(bytes calldata header, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := calldataload(add(header.offset, offset))
        }
    }
}
