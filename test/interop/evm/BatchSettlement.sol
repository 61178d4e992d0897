// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

struct ChannelConfig {
    address payer;
    address payerAuthorizer;
    address receiver;
    address receiverAuthorizer;
    address token;
    uint40 withdrawDelay;
    bytes32 salt;
}

struct Voucher {
    ChannelConfig channel;
    uint128 maxClaimableAmount;
}

struct VoucherClaim {
    Voucher voucher;
    bytes signature;
    uint128 totalClaimed;
}

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

interface Collector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

/// Channels of x402's scheme `batch-settlement`, for tests. Its code is put at the address of the real contract, so it has no
/// constructor. It has the functions, typed data and rules of the real one.
contract BatchSettlement {
    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Withdrawal {
        uint128 amount;
        uint40 initiatedAt;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    error Refused(string why);

    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);

    uint40 private constant DELAY_MIN = 900;
    uint40 private constant DELAY_MAX = 2_592_000;
    /// Half the order of the curve: of a signature and its mirror image only one is taken.
    uint256 private constant HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 public constant CHANNEL_CONFIG_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 private constant BATCH_TYPEHASH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );
    bytes32 private constant ENTRY_TYPEHASH =
        keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");

    mapping(bytes32 => Channel) public channels;
    mapping(bytes32 => Withdrawal) public pendingWithdrawals;
    mapping(bytes32 => uint256) public refundNonce;
    mapping(address => mapping(address => Receiver)) public receivers;

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata data) external {
        check(config.payer != address(0) && config.receiver != address(0) && config.token != address(0), "address");
        check(config.receiverAuthorizer != address(0), "receiver authorizer");
        check(config.withdrawDelay >= DELAY_MIN && config.withdrawDelay <= DELAY_MAX, "withdraw delay");
        check(amount > 0, "nothing to deposit");
        bytes32 id = getChannelId(config);
        channels[id].balance += amount;
        uint256 before = Token(config.token).balanceOf(address(this));
        Collector(collector).collect(config.payer, config.token, amount, id, data);
        check(Token(config.token).balanceOf(address(this)) == before + amount, "another amount came");
    }

    function claim(VoucherClaim[] calldata rows) external {
        check(rows.length > 0, "empty batch");
        for (uint256 i = 0; i < rows.length; i++) {
            check(isReceiverSide(rows[i].voucher.channel), "not the receiver");
            book(rows[i]);
        }
    }

    function claimWithSignature(VoucherClaim[] calldata rows, bytes calldata signature) external {
        check(rows.length > 0, "empty batch");
        address authorizer = rows[0].voucher.channel.receiverAuthorizer;
        check(isSignedBy(authorizer, getClaimBatchDigest(rows), signature), "claim signature");
        for (uint256 i = 0; i < rows.length; i++) {
            check(rows[i].voucher.channel.receiverAuthorizer == authorizer, "another authorizer");
            book(rows[i]);
        }
    }

    /// Pays out what was claimed since the last time.
    function settle(address receiver, address token) external {
        Receiver storage sums = receivers[receiver][token];
        uint128 amount = sums.totalClaimed - sums.totalSettled;
        if (amount == 0) return;
        sums.totalSettled = sums.totalClaimed;
        pay(token, receiver, amount);
        emit Settled(receiver, token, msg.sender, amount);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        check(isPayerSide(config), "not the payer");
        bytes32 id = getChannelId(config);
        check(pendingWithdrawals[id].initiatedAt == 0, "a withdrawal is pending");
        check(amount > 0 && amount <= unclaimed(id), "withdrawal amount");
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
    }

    function finalizeWithdraw(ChannelConfig calldata config) external {
        check(isPayerSide(config), "not the payer");
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        check(pending.initiatedAt != 0, "no withdrawal is pending");
        check(block.timestamp >= uint256(pending.initiatedAt) + config.withdrawDelay, "too early");
        delete pendingWithdrawals[id];
        uint128 amount = least(pending.amount, unclaimed(id));
        channels[id].balance -= amount;
        pay(config.token, config.payer, amount);
    }

    function refund(ChannelConfig calldata config, uint128 amount) external {
        check(isReceiverSide(config), "not the receiver");
        giveBack(config, amount);
    }

    function refundWithSignature(
        ChannelConfig calldata config,
        uint128 amount,
        uint256 nonce,
        bytes calldata signature
    ) external {
        bytes32 id = getChannelId(config);
        check(nonce == refundNonce[id], "refund nonce");
        check(isSignedBy(config.receiverAuthorizer, getRefundDigest(id, nonce, amount), signature), "refund signature");
        giveBack(config, amount);
    }

    /// Several calls as one transaction: all succeed, or none.
    function multicall(bytes[] calldata calls) external returns (bytes[] memory results) {
        results = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory result) = address(this).delegatecall(calls[i]);
            if (!success) {
                assembly {
                    revert(add(result, 0x20), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function getChannelId(ChannelConfig calldata config) public view returns (bytes32) {
        return typedDigest(keccak256(abi.encode(CHANNEL_CONFIG_TYPEHASH, config)));
    }

    function getVoucherDigest(bytes32 id, uint128 ceiling) public view returns (bytes32) {
        return typedDigest(keccak256(abi.encode(VOUCHER_TYPEHASH, id, ceiling)));
    }

    function getRefundDigest(bytes32 id, uint256 nonce, uint128 amount) public view returns (bytes32) {
        return typedDigest(keccak256(abi.encode(REFUND_TYPEHASH, id, nonce, amount)));
    }

    function getClaimBatchDigest(VoucherClaim[] calldata rows) public view returns (bytes32) {
        bytes32[] memory entries = new bytes32[](rows.length);
        for (uint256 i = 0; i < rows.length; i++) {
            bytes32 id = getChannelId(rows[i].voucher.channel);
            entries[i] = keccak256(
                abi.encode(ENTRY_TYPEHASH, id, rows[i].voucher.maxClaimableAmount, rows[i].totalClaimed)
            );
        }
        return typedDigest(keccak256(abi.encode(BATCH_TYPEHASH, keccak256(abi.encodePacked(entries)))));
    }

    /// Books a claim. A row that brings nothing new is passed over before its signature is looked at.
    function book(VoucherClaim calldata row) private {
        ChannelConfig calldata config = row.voucher.channel;
        bytes32 id = getChannelId(config);
        Channel storage channel = channels[id];
        uint128 had = channel.totalClaimed;
        if (row.totalClaimed <= had) return;
        check(row.totalClaimed <= row.voucher.maxClaimableAmount, "above the ceiling");
        check(row.totalClaimed <= channel.balance, "above the balance");
        bytes32 digest = getVoucherDigest(id, row.voucher.maxClaimableAmount);
        bool isGood = config.payerAuthorizer == address(0)
            ? isSignedBy(config.payer, digest, row.signature)
            : signer(digest, row.signature) == config.payerAuthorizer;
        check(isGood, "voucher signature");
        channel.totalClaimed = row.totalClaimed;
        receivers[config.receiver][config.token].totalClaimed += row.totalClaimed - had;
    }

    /// The nonce rises even where nothing is left to give back.
    function giveBack(ChannelConfig calldata config, uint128 asked) private {
        check(asked > 0, "nothing to refund");
        bytes32 id = getChannelId(config);
        refundNonce[id] += 1;
        uint128 amount = least(asked, unclaimed(id));
        channels[id].balance -= amount;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (amount >= pending.amount) delete pendingWithdrawals[id];
        else pending.amount -= amount;
        pay(config.token, config.payer, amount);
    }

    function pay(address token, address to, uint128 amount) private {
        if (amount > 0) check(Token(token).transfer(to, amount), "the token refused");
    }

    function unclaimed(bytes32 id) private view returns (uint128) {
        return channels[id].balance - channels[id].totalClaimed;
    }

    function isReceiverSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.receiver || msg.sender == config.receiverAuthorizer;
    }

    function isPayerSide(ChannelConfig calldata config) private view returns (bool) {
        return msg.sender == config.payer || msg.sender == config.payerAuthorizer;
    }

    function typedDigest(bytes32 structHash) private view returns (bytes32) {
        bytes32 separator = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this)
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", separator, structHash));
    }

    /// A key's own signature, or what the contract at that address takes for one (ERC-1271).
    function isSignedBy(address by, bytes32 digest, bytes calldata signature) private view returns (bool) {
        if (by.code.length == 0) return signer(digest, signature) == by;
        (bool success, bytes memory answer) = by.staticcall(abi.encodeWithSelector(0x1626ba7e, digest, signature));
        return success && answer.length >= 32 && bytes4(answer) == bytes4(0x1626ba7e);
    }

    /// The key that signed. Fails for signatures that name none.
    function signer(bytes32 digest, bytes calldata signature) private pure returns (address recovered) {
        check(signature.length == 65, "signature length");
        uint256 s = uint256(bytes32(signature[32:64]));
        check(s <= HALF_ORDER, "mirrored signature");
        recovered = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(s));
        check(recovered != address(0), "signature");
    }

    function least(uint128 a, uint128 b) private pure returns (uint128) {
        return a < b ? a : b;
    }

    function check(bool isGood, string memory why) private pure {
        if (!isGood) revert Refused(why);
    }
}
