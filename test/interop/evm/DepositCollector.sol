// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}

/// Pulls deposits into `BatchSettlement` by authorizations of EIP-3009, for tests. Its code is put at the address of the real collector.
contract DepositCollector {
    address private constant SETTLEMENT = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    /// The nonce of the authorization names the channel, so a deposit cannot be led into another one.
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        require(msg.sender == SETTLEMENT, "not the settlement contract");
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        Token(token).receiveWithAuthorization(
            payer, address(this), amount, validAfter, validBefore, nonce, signature
        );
        require(Token(token).transfer(msg.sender, amount), "the token refused");
    }
}
