-- Replaces the record of a session. KEYS: session. ARGV: epoch, record, time to keep it.
local epoch = redis.call('HGET', KEYS[1], 'e')
if not epoch then return 'gone' end
if epoch ~= ARGV[1] then return 'conflict' end
redis.call('HSET', KEYS[1], 'r', ARGV[2], 'k', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'ok'
