// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Many calls in one, for tests. Its code is put at the address of Multicall3, through which the official packages read channels.
contract ManyCalls {
    struct Call {
        address target;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            require(success || !requireSuccess, "a call failed");
            results[i] = Result(success, data);
        }
    }
}
