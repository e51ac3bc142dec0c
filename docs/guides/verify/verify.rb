require "openssl"

TOLERANCE_SECONDS = 300

# `body`: the bytes as they came.
def verify(headers, body, secret, now = Time.now.to_i)
  id, timestamp, signatures = headers.values_at("webhook-id", "webhook-timestamp", "webhook-signature")
  return false if id.to_s.empty? || !timestamp.to_s.match?(/\A[0-9]+\z/) || signatures.to_s.empty?
  return false if (now - timestamp.to_i).abs > TOLERANCE_SECONDS

  key = secret.delete_prefix("whsec_").unpack1("m0")
  signed = "#{id}.#{timestamp}.".b + body.b
  expected = "v1," + [OpenSSL::HMAC.digest("SHA256", key, signed)].pack("m0")
  signatures.split(" ").any? { |entry| OpenSSL.secure_compare(entry, expected) }
end
