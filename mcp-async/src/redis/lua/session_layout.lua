local LAYOUT = '1'
