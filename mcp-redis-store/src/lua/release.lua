-- Leaves a session without owner, if it is this process. KEYS: session. ARGV: process.
if redis.call('HGET', KEYS[1], 'p') == ARGV[1] then redis.call('HDEL', KEYS[1], 'p', 'n') end
return 'ok'
