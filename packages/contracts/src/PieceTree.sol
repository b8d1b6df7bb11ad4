// SPDX-License-Identifier: Apache-2.0 OR MIT
pragma solidity 0.8.37;

/// @title Checks paths in the tree of a Filecoin piece.
library PieceTree {
    /// @notice Whether a path leads from a leaf to the root.
    /// @param nodes The leaf's 32 bytes at `first`, then the siblings from the leaf's up to those below the root.
    /// @param height How many siblings there are. The caller has checked that `nodes` has them.
    function leadsToRoot(bytes32[] calldata nodes, uint256 first, uint256 height, uint256 leafIndex, bytes32 root)
        internal
        view
        returns (bool isProven)
    {
        // In assembly, since `sha256` copies each pair twice and takes new memory for it: 250 units of gas a level, not 500.
        assembly ("memory-safe") {
            let position := leafIndex
            let next := add(nodes.offset, shl(5, first))
            let node := calldataload(next)
            let end := add(next, shl(5, height))
            isProven := 1
            for {} lt(next, end) {} {
                next := add(next, 32)
                // An odd node is at the right of its sibling.
                let right := shl(5, and(position, 1))
                mstore(right, node)
                mstore(xor(right, 32), calldataload(next))
                isProven := and(isProven, staticcall(gas(), 2, 0, 64, 0, 32))
                // A node is a sha2-256 without its two highest bits, little-endian: it fits into a field of 254 bits.
                node := and(mload(0), not(0xc0))
                position := shr(1, position)
            }
            isProven := and(isProven, eq(node, root))
        }
    }
}
