<?php

const TOLERANCE_SECONDS = 300;

/** $body: the bytes as they came, from file_get_contents("php://input"). */
function verify(array $headers, string $body, string $secret, ?int $now = null): bool
{
    $id = $headers["webhook-id"] ?? "";
    $timestamp = $headers["webhook-timestamp"] ?? "";
    $signatures = $headers["webhook-signature"] ?? "";
    if ($id === "" || preg_match('/^[0-9]+$/D', $timestamp) !== 1 || $signatures === "") {
        return false;
    }
    if (abs(($now ?? time()) - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }

    $key = base64_decode(substr($secret, strlen("whsec_")));
    $expected = "v1," . base64_encode(hash_hmac("sha256", "$id.$timestamp.$body", $key, true));
    foreach (explode(" ", $signatures) as $entry) {
        if (hash_equals($expected, $entry)) {
            return true;
        }
    }
    return false;
}
