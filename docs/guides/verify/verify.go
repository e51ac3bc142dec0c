package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

const toleranceSeconds = 300

// Verify takes the body as the bytes that came.
func Verify(headers map[string]string, body []byte, secret string, now int64) bool {
	id, timestamp, signatures := headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"]
	seconds, err := strconv.ParseUint(timestamp, 10, 62)
	if id == "" || err != nil || signatures == "" {
		return false
	}
	if age := now - int64(seconds); age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}

	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, entry := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(entry), expected) {
			return true
		}
	}
	return false
}
