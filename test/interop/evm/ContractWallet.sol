// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A wallet that is a contract (ERC-1271), for tests. It takes what its owner signed behind a word of its own, so that its signatures
/// are not as long as those of keys. Its code is put at an address and its owner into its storage.
contract ContractWallet {
    address private owner;

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 97 || bytes32(signature[0:32]) != keccak256("ContractWallet")) return 0xffffffff;
        address signer = ecrecover(
            digest, uint8(signature[96]), bytes32(signature[32:64]), bytes32(signature[64:96])
        );
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
