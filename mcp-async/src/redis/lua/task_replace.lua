-- Replaces a task of the version before. KEYS: task. ARGV: id, record, version before, version, 1 if it is terminal.
if redis.call('HGET', KEYS[1], 'v') ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'd', ARGV[2], 'v', ARGV[4])
if ARGV[5] == '1' then redis.call('SREM', redis.call('HGET', KEYS[1], 'b'), ARGV[1]) end
return 1
