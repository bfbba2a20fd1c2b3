-- Ends the lease of a process, if it has this number. KEYS: processes. ARGV: process, number.
local lease = redis.call('HGET', KEYS[1], ARGV[1])
if lease and string.match(lease, '^%d+') == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'ok'
